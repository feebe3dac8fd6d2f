"""Readers of published datasets, registered by name in :data:`tertium.data.datasets.base.DATASETS`."""
