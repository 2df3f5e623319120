"""Each role is shown what it may do, and the service refuses the rest.

The routes with their permissions come from the sources of the pages (routes.py), and the roles from Documentation/Console.md.
"""

import functools
import re
import unittest

import routes
from browser import Window, logged_in
from shop import shop
from test_pages import pages

ROLES = list(routes.PERMISSIONS)


@functools.cache
def tour(role):
    """The links and the forms that a role is shown on the pages of every kind: route and first address of each."""
    links, forms, statuses = {}, {}, {}
    with Window(logged_in(role)) as window, window.expecting(403):
        for path in pages()[0].values():
            route = routes.reading(path)
            if route and (route.kind == "answer" or route.permission not in routes.PERMISSIONS[role]):
                continue
            statuses[path] = window.open(path).status
            for link in window.links():
                links.setdefault(routes.reading(link), link)
            for route, address in window.forms().items():
                forms.setdefault(route, address)
    return links, forms, statuses


class Roles(unittest.TestCase):
    def test_a_role_is_shown_only_what_it_may_do(self):
        for role in ROLES:
            links, forms, statuses = tour(role)
            for path, status in statuses.items():
                with self.subTest(role=role, page=path):
                    self.assertEqual(status, 200)
            for route, address in {**links, **forms}.items():
                if route:
                    with self.subTest(role=role, shown=address):
                        self.assertIn(route.permission, routes.PERMISSIONS[role])

    def test_an_administrator_is_offered_every_form(self):
        forms = tour("admin")[1]
        # They are on pages that only follow an action, or of a subscription, which test_actions plays.
        later = {"account/codes/off", "store/faults/clear", "products/:product/return", "products/:product/history/:number/undo",
                 "customers/:issuer/:user/transactions/:transaction/reinstatement", "store/transactions/:transaction/retention",
                 "store/account/family/leave", "customers/move",
                 # They need a key of the App Store, a purchase at Google Play, or a request that awaits approval.
                 "store-actions", "unclaimed/:transaction/store-actions", "customers/:issuer/:user/transactions/:transaction/store-actions",
                 "store-actions/:action/approval", "store-actions/:action/refusal"}
        for route in routes.all_routes():
            if route.is_form and not route.path.endswith("/:action") and route.path not in later:
                with self.subTest(route.path):
                    self.assertTrue(route in forms, "no page has the form")

    def test_what_a_role_may_not_do_is_refused(self):
        """A form that is sent by itself, with a valid token, is refused and so is a page."""
        offered = tour("admin")[1]
        for role in ROLES:
            with Window(logged_in(role)) as window:
                window.open("account")
                for route in routes.all_routes():
                    if route.permission in routes.PERMISSIONS[role]:
                        continue
                    with self.subTest(role=role, route=route.path):
                        address = offered.get(route) or "/console/" + re.sub(r":\w+", "x", route.path.replace(":action", "approve"))
                        answer = window.post(address, {"reason": "x"}) if route.is_form else window.context.request.get(address, max_redirects=0)
                        self.assertEqual(answer.status, 403)
                        self.assertIn("permissionMissing", answer.text())

    def test_the_session_of_a_role_changes_at_once(self):
        with Window() as window:
            window.accept(shop().invite("promoted", "viewer"))
            window.log_in("promoted")
            window.open("account")
            for role, status in (("viewer", 403), ("catalog", 200), ("viewer", 403)):
                shop().till("console", "set-role", "promoted", role)
                self.assertEqual(window.context.request.get("/console/new-product").status, status)
