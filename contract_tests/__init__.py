"""What a client can see, through public clients only."""
