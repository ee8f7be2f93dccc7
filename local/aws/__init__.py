"""The local AWS: what runs inside its process. `local.control` starts it and steers it from outside."""
