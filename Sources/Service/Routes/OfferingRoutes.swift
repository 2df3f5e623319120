import Catalog
import HTTPSupport
import Hummingbird
import Proofs

/// The route that lists what an app offers.
struct OfferingRoutes: Sendable {
    let catalogs: CatalogViews

    func add(to group: RouterGroup<ServiceContext>) {
        group.get("offerings") { request, context in
            let catalog = try catalogs.view(of: request, context).catalog
            return CacheableAnswer.response(
                JSONAnswer.encode(Self.json(of: catalog)), type: "application/json", for: request,
                headers: [.cacheControl: "no-cache"])
        }
    }

    /// The offerings of an app. They are written member by member, to keep the digits of numbers in metadata.
    private static func json(of catalog: Catalog) -> JSONValue {
        var list = JSONObject()
        if let current = catalog.currentOffering { _ = list.add("currentOffering", .string(current.identifier)) }
        let offerings = catalog.offerings.map { offering -> JSONValue in
            var object: JSONObject = [
                "identifier": .string(offering.identifier), "description": .string(offering.description),
            ]
            if !offering.metadata.members.isEmpty { _ = object.add("metadata", .object(offering.metadata)) }
            let packages = catalog.packagesForSale(of: offering).map {
                JSONValue.object([
                    "identifier": .string($0.identifier), "productId": .string($0.productIdentifier),
                ])
            }
            _ = object.add("packages", .array(packages))
            return .object(object)
        }
        _ = list.add("offerings", .array(offerings))
        return .object(list)
    }
}
