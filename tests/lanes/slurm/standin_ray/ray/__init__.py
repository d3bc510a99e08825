"""A stand-in for Ray: nodes that join a head over TCP and leave it, and no more. Put on PYTHONPATH by the lane."""
