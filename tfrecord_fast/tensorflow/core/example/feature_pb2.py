"""The messages of features."""

from ....train import BytesList, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List

__all__ = ["BytesList", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List"]
