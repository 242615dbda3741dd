"""What every context may use and no context owns: settings, errors, clock, clients, observability, the HTTP edge.

Nothing here knows an order's status table, a stock item or a gateway; contexts never import each other, only this.
"""
