"""What is measured of the system: speed against a floor (``make bench``) and the counts that no machine changes."""
