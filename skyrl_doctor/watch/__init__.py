"""Watches a job while it runs: followers and samplers make observations, pure rules make findings of them."""
