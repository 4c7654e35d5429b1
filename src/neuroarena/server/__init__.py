"""A competition on the web: the pages of the static site live, with accounts and intake (extra: server).

`create_app(arena, settings)` is a value built from lists: `ROUTERS` in ``app.py`` names every router.

How to add a route
------------------
Write a module in ``routes`` with ``router = PageRouter()``, and name the router in ``app.ROUTERS``. ::

    @router.page("/submissions/{submission}", shape=Receipt)
    def show_receipt(arena: OpenArena, who: TeamMember, submission: str) -> View:
        receipt = find_receipt(arena, who.team, submission)
        return View("receipt.html.j2", "Receipt", {"receipt": receipt})

    @router.action("/submissions/{submission}/withdraw")
    def withdraw(arena: OpenArena, who: SubmittingMember, submission: str) -> Done:
        withdraw_own(arena, who.team, submission)
        return Done("/submissions", {"withdrawn": submission})

* **One view, two formats.** `page` registers ``/x`` (HTML) and ``/x.json`` with the same function, so that both have
  the same permission and the same data: the template gets the keys of `data` as variables, and JSON is `data` itself.
  ``Accept: application/json`` works too. `shape` is the pydantic model (or TypedDict) of `data` in the OpenAPI
  schema; ``extra="forbid"`` there lets the drill see what is not declared. Data are plain; times are text.
* **Acts** are `action`: POST at ``/x`` and ``/x.json``; fields are ``Annotated[str, Form()]``. `Done` answers a browser
  with a redirect (303) and a program with JSON. Acts are refused when they come from another site (``origins.py``):
  every form has ``{{ csrf_field() }}``, and nothing else is needed.
* **Who is asking** is a parameter with one of the types of ``visitors.py``: `Anyone`, `SignedIn`, `TeamMember`,
  `SubmittingMember`, `OrganiserOnly`. It is the permission; a route without one fails a test. A refusal is one
  sentence: ``raise Refusal(404, "There is no such page.")``; an `InputError` of a service becomes 400 by itself.
  Another way to say who it is (a session) is a `Resolver` in ``visitors.RESOLVERS``.
* **Templates** lie in ``templates`` and extend ``base.html.j2``; they see `page`, `site`, `root` (relative way to the
  top: begin every link with it), `who`, `csrf_field`. No inline script or style: the policy forbids both. Scripts and
  style sheets are files in ``assets``, listed in ``assets.py``.
* **Lists** take ``paging: Paging`` and return ``paging.cut(rows)``: ``?page=2&per_page=50``.
* **Uploads** read ``request.stream()`` after ``allow_body(request, n_bytes)``; bodies are small otherwise (413).
* **Files beside the pages** (maps, reports) are answered with ``sandboxed(response)``, below ``/files``: nothing runs.
* Functions are ``def`` (they run in threads; the store blocks), unless they await a stream.
"""

from __future__ import annotations

from neuroarena.lazily import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        ".app": ("create_app",),
        ".settings": ("Settings", "read_server_settings"),
    },
    extra="server",
    libraries=("fastapi", "uvicorn", "sqlalchemy"),
)
