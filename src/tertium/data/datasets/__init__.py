"""Readers of published datasets; :data:`tertium.data.datasets.base.DATASETS` lists them."""
