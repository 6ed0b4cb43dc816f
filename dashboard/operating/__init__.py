"""The operator's page: what the server does, without what its users brought."""
