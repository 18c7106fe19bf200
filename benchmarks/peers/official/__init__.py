"""Adapters, one program each, that run published code of few-shot methods on tasks of peer_episodes.Tasks. Each has PEERS."""
