"""From files to rows. `pipeline` tells the whole story."""
