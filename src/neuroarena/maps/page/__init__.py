"""The page of a map: every picture with its explanation, what is significant, and tables beside them."""

from neuroarena.maps.page.contents import Picture, Section, Table
from neuroarena.maps.page.writing import write_map_page

__all__ = ["Picture", "Section", "Table", "write_map_page"]
