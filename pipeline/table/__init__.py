"""What the Iceberg table says of itself, and what is made of it: its marker, its continuity, its care."""
