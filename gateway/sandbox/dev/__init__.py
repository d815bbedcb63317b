"""What a developer needs beside AWS: demo tenants with data, tokens, the order desk, reloads."""
