"""The panel's proofs: reaction, no transition lost, order, no duplicate, and what the polling design loses."""
