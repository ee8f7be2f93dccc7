"""What people are told, and when: one mail per incident, in plain text."""
