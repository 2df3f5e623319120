"""The models of both stores, compared with what Till's service and its local stores know.

The App Store's are those of app-store-server-library, Google Play's those of the discovery document in google-api-python-client. The file
pages.txt has what the stores' own pages name and neither has, and excuses.txt why something is passed over, each line with its reason.

An endpoint is known to a local store if the running program serves it, and to the service if the source of its client has the path. The
types of a known endpoint are compared, and those of another one are not. A field is known to the local Play if the structure of its
schema has it, elsewhere if the sources of that side name it as a whole: in a table of fields, in quotes or as a property. A value is known
if it is in quotes, or is that of a case that the side uses. So a field that is only listed, and does nothing, is one to excuse.
"""

import collections
import enum
import fnmatch
import functools
import importlib.metadata
import inspect
import json
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile
import typing
import urllib.error
import urllib.request

import appstoreserverlibrary.models
import attr
import googleapiclient
from appstoreserverlibrary.api_client import AppStoreServerAPIClient

from swift import Sources

HERE = pathlib.Path(__file__).parent
DISCOVERY = json.loads(
    (pathlib.Path(googleapiclient.__file__).parent / "discovery_cache/documents/androidpublisher.v3.json").read_text())
PREFIX = re.compile(r"androidpublisher/v3/(applications/\{\w+\}/)?")

# What Apple signs, and what an app or Apple sends without an endpoint of the API.
PAYLOADS = [
    "JWSTransactionDecodedPayload", "JWSRenewalInfoDecodedPayload", "AppTransaction", "ResponseBodyV2",
    "ResponseBodyV2DecodedPayload", "RealtimeRequestBody", "DecodedRealtimeRequestBody", "RealtimeResponseBody",
    "AdvancedCommerceOneTimeChargeCreateRequest", "AdvancedCommerceSubscriptionCreateRequest",
    "AdvancedCommerceSubscriptionModifyInAppRequest", "AdvancedCommerceSubscriptionReactivateInAppRequest",
    "PromotionalOffer", "PromotionalOfferSignatureV1", "ConsumptionRequestReason",
]
# Types that the library keeps under an older name.
REPLACED = {"FirstSendAttemptResult"}
# The Swift enumerations of another name than the models have.
ENUMERATIONS = {
    "Type": "ProductType", "OfferType": "Kind", "Environment": "AppStoreEnvironment",
    "ImageState": "RetentionReviewState", "MessageState": "RetentionReviewState",
    "SubscriptionNotification.notificationType": "SubscriptionNotificationType subscriptionTypes",
    "OneTimeProductNotification.notificationType": "OneTimeNotificationType oneTimeTypes",
    "VoidedPurchaseNotification.refundType": "refundTypes",
    "Order.salesChannel": "SalesChannel", "CancelSurveyResult.reason": "Reason",
    "OrdersReviewRefundRequest.refundPreference": "GoogleRefundPreference Preference",
    "ExtendReasonCode": "cause", "ExternalPurchaseReport.status": "Status", "ExternalPurchaseToken.tokenType": "Kind",
    "SubscriptionBuyLineItem.subscriptionEvent": "SubscriptionEvent",
    "ExternalOfferDetails.installedAppCategory": "Category", "ExternalContentLinkDetails.externalAppCategory": "Category",
}
# The structures of the local Play for schemas of another name.
STRUCTURES = {
    "Subscription": "CatalogSubscription", "SubscriptionOffer": "CatalogOffer",
    "OrdersReviewRefundRequest": "RefundReviewRequest", "VoidedPurchasesListResponse": "VoidedPurchaseList",
    "BatchGetOrdersResponse": "OrderList", "RefundExternalTransactionRequest": "ExternalRefund",
    "ProductPurchasesAcknowledgeRequest": "AcknowledgeRequest",
    "SubscriptionPurchasesAcknowledgeRequest": "SubscriptionRequests.Acknowledge",
    "CancelSubscriptionPurchaseRequest": "SubscriptionRequests.Cancel",
    "DeferSubscriptionPurchaseRequest": "SubscriptionRequests.Defer",
    "DeferSubscriptionPurchaseResponse": "SubscriptionRequests.Deferred",
    "RevokeSubscriptionPurchaseRequest": "SubscriptionRequests.Revoke",
    "SubscriptionPurchasesDeferRequest": "SubscriptionRequests.FirstDefer",
    "SubscriptionDeferralInfo": "SubscriptionRequests.FirstDefer.Info",
    "SubscriptionPurchasesDeferResponse": "SubscriptionRequests.FirstDeferred",
    "MigrateBasePlanPricesRequest": "PriceMigrationRequests.Migrate", "DeveloperNotification": "DeveloperNotification",
}
# What the local Play keeps as JSON, and reads nothing of.
OPAQUE = "JSONContent"
# The sources of the service that read the answers of some methods; the others are read by any of its sources about Google Play.
READERS = {
    "orders.reviewrefund": ["Service/GooglePlay"],
    "orders.*": ["Proofs/GooglePlay/GooglePlayOrder.swift"],
    "purchases.voidedpurchases.*": ["Proofs/GooglePlay/GooglePlayOrder.swift", "Service/PlayDeveloperAPI"],
    "purchases.*v2.get*": [
        "Proofs/GooglePlay/GooglePlayAnswer.swift", "Proofs/GooglePlay/GooglePlayOrder.swift", "Service/PlayDeveloperAPI"],
    "externaltransactions.*": ["Entitlements/GooglePlay", "Service/GooglePlay", "Service/PlayDeveloperAPI"],
}
# The sources that alone read some types of Apple's pages, of the service and of the local store.
EXTERNAL = {
    "service": ["Entitlements/ExternalPurchases", "Service/ExternalPurchases"],
    "double": [
        "AppStore/Store/ServerAPI/ExternalPurchases.swift", "AppStore/StoreHTTP/ServerAPIRoutes.swift",
        "AppStore/StoreHTTP/SandboxRequests.swift"],
}
PAGE_READERS = {"ExternalPurchase*": EXTERNAL, "*LineItem": EXTERNAL, "SendReport*Response": EXTERNAL}
ACTIONS = ["Entitlements/StoreActions", "Service/StoreActions"]
APPLE_SERVICE = Sources(
    "Proofs/Receipts", "Proofs/Signatures", "Service/AppStoreClient", "Service/Reconciliation",
    "Console/Pages/Customers/DescribedRequestForm.swift", *ACTIONS)
GOOGLE_SERVICE = Sources(
    "Proofs/GooglePlay", "Entitlements/GooglePlay", "Service/GooglePlay", "Service/GooglePlayNotifications",
    "Service/PlayDeveloperAPI", *ACTIONS)
SIDES = {
    ("service", "apple"): APPLE_SERVICE,
    ("service", "google"): GOOGLE_SERVICE,
    ("double", "apple"): Sources("AppStore"),
    ("double", "google"): Sources("PlayStore"),
}
# Enumerations are declared in one place, and used in others.
SHARED = ["Proofs", "Catalog", "Vocabulary"]
DECLARED = {
    "service": Sources(*SHARED, "Entitlements", "Service"),
    "double": Sources(*SHARED, "HTTPSupport/LocalStores", "AppStore", "PlayStore"),
}
USED = {
    "service": Sources(*SHARED, "Entitlements", "Features", "Service", "Console"),
    "double": Sources("AppStore", "PlayStore"),
}


class Item(typing.NamedTuple):
    """A field, a value or an endpoint of a store."""

    store: str
    kind: str
    name: str
    source: str


# --- The models ---------------------------------------------------------------------------------------------------------------------


def python_types(hint):
    """The models in an annotation, such as Optional[List[Data]]."""
    if inspect.isclass(hint):
        return [hint] if attr.has(hint) or issubclass(hint, enum.Enum) else []
    return [found for inner in typing.get_args(hint) for found in python_types(inner)]


class Apple:
    """The models of app-store-server-library."""

    store = "apple"
    source = f"app-store-server-library {importlib.metadata.version('app-store-server-library')}"

    def __init__(self):
        self.models, self.endpoints = {}, {}
        for module in pkgutil.iter_modules(appstoreserverlibrary.models.__path__):
            loaded = __import__(f"appstoreserverlibrary.models.{module.name}", fromlist=["x"])
            for name, found in vars(loaded).items():
                if inspect.isclass(found) and found.__module__ == loaded.__name__ and python_types(found):
                    self.models[name] = found
        for _, function in inspect.getmembers(AppStoreServerAPIClient, inspect.isfunction):
            call = re.search(r'self\._make_request\(f?"([^"]*)".*?, "([A-Z]+)"', inspect.getsource(function))
            if call and not function.__name__.startswith("_"):
                paths = [call[1].replace("{}", version, 1) for version in ("v1", "v2")] if "{}" in call[1] else [call[1]]
                types = [found for hint in typing.get_type_hints(function).values() for found in python_types(hint)]
                for path in paths:
                    name = f"{call[2]} " + re.sub(r"\{\w*\}", "{}", path)
                    self.endpoints[name] = [found.__name__ for found in types if found.__name__ in self.models]

    def members(self, name):
        """The fields of a type, each with the types in it, and the values of an enumeration."""
        model = self.models[name]
        if not attr.has(model):
            return [], [f"{name}={value.value}" for value in model]
        hints = typing.get_type_hints(model)
        names = {field.name for field in attr.fields(model)}
        fields = {}
        for field in names:
            plain = field[3:4].lower() + field[4:]
            # The library keeps the text of an enumeration beside its value.
            if not (field.startswith("raw") and plain in names):
                fields[field] = [found.__name__ for found in python_types(hints[field])]
        return [(f"{name}.{field}", types) for field, types in sorted(fields.items())], []


class Google:
    """The methods and schemas of the discovery document."""

    store = "google"
    source = f"androidpublisher v3 of {DISCOVERY['revision']}"

    def __init__(self):
        self.models, self.endpoints, self.paths = DISCOVERY["schemas"], {}, {}
        self.add(DISCOVERY, "")

    def add(self, resource, prefix):
        for name, method in resource.get("methods", {}).items():
            path = PREFIX.sub("", method.get("flatPath", method["path"]))
            self.paths[prefix + name] = f"{method['httpMethod']} {path}"
            self.endpoints[prefix + name] = [
                method[part]["$ref"] for part in ("request", "response") if part in method]
        for name, inner in resource.get("resources", {}).items():
            self.add(inner, f"{prefix}{name}.")

    @staticmethod
    def references(schema):
        inner = schema.get("items") or schema.get("additionalProperties") or schema
        return [inner["$ref"]] if "$ref" in inner else []

    def members(self, name):
        fields, values = [], []
        for field, schema in self.models[name].get("properties", {}).items():
            fields.append((f"{name}.{field}", self.references(schema)))
            # The zero value of an enumeration says that there is none.
            known = [value for value in (schema.get("items") or schema).get("enum", [])]
            values += [f"{name}.{field}={value}" for value in known if not value.upper().endswith("UNSPECIFIED")]
        return fields, values


# --- What is known ------------------------------------------------------------------------------------------------------------------


def started(till, arguments, folder):
    """A local store as a process, with its address and the key of its sandbox."""
    process = subprocess.Popen(
        [till, *arguments, "--json", "--port", "0", "--data", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            answer = json.loads(text)
            return process, answer["url"], answer["sandboxKey"]
    sys.exit(f"test-models: `till {' '.join(arguments)}` did not start: {process.stderr.read()}")


def status(url, method):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def served(till, endpoints):
    """The endpoints that the local stores serve. The local App Store answers 401 for each of them, and 404 or 405 for any other."""
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        try:
            process, url, _ = started(till, ["store"], f"{folder}/apple")
            processes.append(process)
            for name in endpoints:
                method, path = name.split(" ")
                if status(url + path.replace("{}", "x"), method) == 401:
                    found.add(name)
            process, url, key = started(till, ["play"], f"{folder}/google")
            processes.append(process)
            request = urllib.request.Request(f"{url}/sandbox/v1/methods", headers={"Authorization": f"Bearer {key}"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                found.update(json.load(answer)["methods"])
        finally:
            for process in processes:
                process.terminate()
                process.communicate()
    return found


CALL = re.compile(r'(?:\.(get|post|put|patch|delete),|let path =)\s*"((?:[^"\\\n]|\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)"')


# The endpoints of the Advanced Commerce API, whose paths the service puts together from their names.
DESCRIBED = re.compile(r'\.described\("([\w/]+)"')


def called(sources, endpoint):
    """True if the sources call an endpoint. Its identifiers may be any text that they put together."""
    method, path = endpoint.split(" ")
    plain = re.sub(r"\{[^}]*\}", "x", path)
    if path.startswith("/advancedCommerce/v1/"):
        return endpoint in [f"POST /advancedCommerce/v1/{name}/{{}}" for name in DESCRIBED.findall(sources.text)]
    for stated, literal in CALL.findall(sources.text):
        form = re.sub(r"\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "\0", literal)
        if stated.upper() in ("", method) and re.fullmatch(re.escape(form).replace("\0", "[^/:]+"), plain):
            return True
    return False


class Knowledge:
    """The knowledge of one side about one store."""

    def __init__(self, side, store, sources=None):
        self.side, self.store = side, store
        self.sources = sources or SIDES[side, store]

    def has_field(self, name, sources=None):
        field = name.partition(".")[2]
        sources = sources or self.sources
        # The part of a notification about the app is a case of its own.
        if any(field in table.cases for table in DECLARED[self.side].enumerations["NotificationSubject"]):
            return field in self.sources.used
        if self.side == "double":
            return sources.quotes(field) or sources.has_property(field)
        return sources.quotes(field) or field in sources.facts or (
            self.store == "apple" and field in self.encoded)

    @functools.cached_property
    def encoded(self):
        """The properties of the requests and answers of the service's client."""
        names = set()
        for path, properties in self.sources.structures.items():
            if path.startswith("AppStoreServerClient."):
                names.update(properties)
        return names

    def has_value(self, name):
        place, _, value = name.partition("=")
        for known in ENUMERATIONS.get(place, place).split(" "):
            for table in DECLARED[self.side].enumerations.get(known, []):
                case = table.cases.get(value)
                if case is not None and (not case or case in USED[self.side].used or self.checks(known)):
                    return True
        if value.lstrip("-").isdigit():
            if int(value) in self.sources.stated[ENUMERATIONS.get(place)]:
                return True
            ranges = self.sources.ranges[place.removesuffix("V1").removeprefix("Extend").lower()]
            return any(int(value) in numbers for numbers in ranges)
        cases = {
            table.cases[value] for tables in DECLARED[self.side].enumerations.values() for table in tables
            if value in table.cases and table.cases[value] != value}
        if cases & self.sources.used:
            return True
        return value in self.plain_literals or any(
            value.startswith(prefix) and value[len(prefix):] in self.sources.literals
            for prefix in self.sources.literals if prefix.endswith("_"))

    def checks(self, enumeration):
        """True if the side reads a text of a request as a case, and refuses any other."""
        return re.search(rf"\b{enumeration}\.allCases\.first", self.sources.text) is not None or self.side == "double" and (
            re.search(rf"\b{enumeration}(\.init)?\(rawValue", self.sources.text) is not None
            or any(enumeration in properties.values() for properties in self.sources.structures.values()))

    @functools.cached_property
    def plain_literals(self):
        """The texts in quotes that are not the raw values of cases."""
        text = re.sub(r'^\s*case \w+ = "[^"]*"', "", self.sources.text, flags=re.MULTILINE)
        return set(re.findall(r'"([^"\\\n]*)"', text))


# --- The comparison -----------------------------------------------------------------------------------------------------------------


def lines(name):
    for number, line in enumerate((HERE / name).read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


def expanded(name):
    """The names of `TYPE.{FIELD,FIELD}`, which stands for several."""
    several = re.fullmatch(r"(\S*[._=])\{(\S+)\}", name)
    return [several[1] + each for each in several[2].split(",")] if several else [name]


def page_items():
    """What the stores' pages name: the items with their pages, and the types of endpoints."""
    items, types = [], {}
    for number, line in lines("pages.txt"):
        parts = line.split()
        store, page = parts[0], parts[-1]
        assert store in ("apple", "google") and page.startswith("https://"), f"pages.txt:{number}: {line}"
        words = parts[1:-1]
        if re.fullmatch("[A-Z]+", words[0]):
            name, kind = f"{words[0]} {words[1]}", "endpoint"
            types[name] = words[2:]
            items.append(Item(store, kind, name, page))
            continue
        for name in expanded(words[0]):
            items.append(Item(store, "value" if "=" in name else "field", name, page))
    return items, types


class Comparison:
    def __init__(self, till):
        self.stores = {"apple": Apple(), "google": Google()}
        self.pages, page_types = page_items()
        self.stale = []
        known = {"apple": set(self.stores["apple"].endpoints), "google": set(self.stores["google"].endpoints)}
        self.stores["apple"].endpoints.update(page_types)
        self.served = served(till, self.stores["apple"].endpoints)
        self.items = {}
        for side, store in SIDES:
            self.items[side, store] = self.compare(side, store)
        for item in self.pages:
            library = self.stores[item.store]
            place, _, field = item.name.partition(".")
            names = known[item.store]
            if place.partition("=")[0] in library.models:
                fields, values = library.members(place.partition("=")[0])
                names = names | {name for name, _ in fields} | set(values)
            if item.name in names:
                self.stale.append(f"pages.txt has {item.name}, and {library.source} has it, too. Remove the line.")

        models = self.stores["apple"].models
        bases = {base.__name__ for model in models.values() for base in model.__mro__[1:]}
        unreached = set(models) - self.reached(self.stores["apple"]) - bases - REPLACED
        self.stale += [
            f"{self.stores['apple'].source} has the type {name}, which no endpoint and no payload has. Add it to PAYLOADS in models.py."
            for name in sorted(unreached)]

    @staticmethod
    def reached(library):
        """The types of all endpoints and payloads, known or not."""
        queue = [*PAYLOADS, *(name for types in library.endpoints.values() for name in types)]
        seen = set()
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += [inner for _, types in library.members(name)[0] for inner in types]
        return seen

    def endpoint_is_known(self, side, store, name):
        if side == "double":
            return name in self.served
        if store == "google":
            return called(GOOGLE_SERVICE, self.stores["google"].paths[name])
        return called(APPLE_SERVICE, name)

    def compare(self, side, store):
        """Each item with True if the side knows it."""
        library, found = self.stores[store], {}
        knowledge = Knowledge(side, store)
        source = {item.name: item.source for item in self.pages}
        queue = collections.deque()
        for name, types in sorted(library.endpoints.items()):
            known = self.endpoint_is_known(side, store, name)
            found[Item(store, "endpoint", name, source.get(name, library.source))] = known
            if known:
                readers = [patterns for form, patterns in READERS.items() if fnmatch.fnmatch(name, form)]
                scope = Sources(*readers[0]) if readers and side == "service" and store == "google" else None
                queue += [(kind, STRUCTURES.get(kind, kind), scope) for kind in types]
        if store == "apple":
            queue += [(kind, None, None) for kind in PAYLOADS]
        seen = set()
        while queue:
            kind, structure, scope = queue.popleft()
            if (kind, structure, id(scope)) in seen:
                continue
            seen.add((kind, structure, id(scope)))
            fields, values = library.members(kind)
            sources = knowledge.sources
            properties = None
            if side == "double" and store == "google":
                properties = {} if structure == OPAQUE else sources.structures.get(structure)
            for name, types in fields:
                item, field = Item(store, "field", name, library.source), name.partition(".")[2]
                if properties is None:
                    known, inner = knowledge.has_field(name, scope), None
                else:
                    known = field in properties
                    inner = known and sources.structure(properties[field], structure) or OPAQUE
                found[item] = found.get(item, False) or known
                queue += [(each, inner or STRUCTURES.get(each, each), scope) for each in types]
            for name in values:
                item = Item(store, "value", name, library.source)
                found[item] = found.get(item, False) or knowledge.has_value(name)
        readers = {form: Knowledge(side, store, Sources(*places[side])) for form, places in PAGE_READERS.items()}
        for item in self.pages:
            kind = re.split("[.=]", item.name)[0]
            reader = next((each for form, each in readers.items() if fnmatch.fnmatchcase(kind, form)), knowledge)
            if item.store == store and item.kind == "field":
                found[item] = reader.has_field(item.name)
            elif item.store == store and item.kind == "value":
                found[item] = reader.has_value(item.name)
        return found


def read_excuses():
    """The excuses of excuses.txt, each with its line, side, store and form of a name."""
    excuses = []
    for number, line in lines("excuses.txt"):
        form = re.fullmatch(r"(service|double|both) (apple|google) ([^:]*(?::[a-zA-Z]+)?): (\S.*)", line)
        assert form, f"excuses.txt:{number}: a line is SIDE STORE NAME: REASON, and this one is \"{line}\""
        excuses += [(number, form[1], form[2], name) for name in expanded(form[3])]
    return excuses


def matching(excuses, side, item):
    """The lines and the names of the excuses that pass over an item of a side."""
    return [
        (number, name) for number, of, store, name in excuses
        if of in (side, "both") and store == item.store and fnmatch.fnmatchcase(item.name, name)]


def main(till):
    comparison = Comparison(till)
    excuses, failures = read_excuses(), list(comparison.stale)
    needed, report = collections.Counter(), []
    for (side, store), items in comparison.items.items():
        counts = collections.defaultdict(collections.Counter)
        for item, known in sorted(items.items()):
            counts[item.kind]["compared"] += 1
            counts[item.kind]["known"] += known
            if known:
                continue
            found = matching(excuses, side, item)
            counts[item.kind]["excused"] += bool(found)
            for excuse in found:
                needed[excuse, side] += 1
            if not found:
                failures.append(f"{side} {store}: the {item.kind} {item.name} is unknown ({item.source})")
        told = "; ".join(
            f"{count['compared']} {kind}s: {count['known']} known, {count['excused']} excused"
            for kind, count in sorted(counts.items()))
        report.append(f"{side} {store}: {told}")
    for number, of, store, name in excuses:
        for side in ("service", "double") if of == "both" else (of,):
            if not needed[(number, name), side]:
                failures.append(f"excuses.txt:{number}: nothing that the {side} misses is {store} {name}. Remove the excuse.")
    for line in failures:
        print(line)
    print("\n".join(report))
    print(f"{comparison.stores['apple'].source}; {comparison.stores['google'].source}; {len(comparison.pages)} items of pages")
    if failures:
        sys.exit(
            f"test-models: {len(failures)} failures. Teach the service and the local store what is unknown, or write a reason into "
            "Tests/Models/excuses.txt.")


if __name__ == "__main__":
    main(sys.argv[1])
