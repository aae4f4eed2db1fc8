"""How a store comes from nothing, or from an older version, to the tables of ``onebit.store.schema``."""
