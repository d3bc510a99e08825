"""The fixtures of the lane of faults: those of the e2e lane."""

from lanes.e2e.conftest import images, podman_env, session_cluster, whole

__all__ = ["images", "podman_env", "session_cluster", "whole"]
