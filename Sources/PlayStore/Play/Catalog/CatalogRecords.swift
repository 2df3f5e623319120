import GRDB
import HTTPSupport
import Proofs

/// The apps of the local Play.
extension PlayBooks {
    /// Adds an app without products, unless the Play has it, and hands its licensing key to the services that trust the Play.
    package func addApp(_ packageName: String) throws {
        try database.execute(
            literal: "INSERT INTO app (package_name) VALUES (\(packageName)) ON CONFLICT DO NOTHING")
        try trust(packageName, try keys.key(.licensing(packageName: packageName)).publicKey)
    }

    package func hasApp(_ packageName: String) throws -> Bool {
        try SQLRequest<Bool>("SELECT EXISTS (SELECT 1 FROM app WHERE package_name = \(packageName))")
            .fetchOne(database) ?? false
    }

    package func apps() throws -> [String] {
        try String.fetchAll(database, sql: "SELECT package_name FROM app ORDER BY package_name")
    }
}

/// The path of a resource in the table: its identifiers with spaces between them, which no identifier has. A space sorts before all
/// characters of an identifier, so that paths are in the order of their identifiers.
private func path(_ levels: [String]) -> String { levels.joined(separator: " ") }

/// The statements on the resources of catalogs, for all kinds. Their kind is the name of the resource in the API.
extension PlayBooks {
    func resource<Resource: CatalogResource>(_ levels: [String], of packageName: String) throws -> Resource? {
        try database.record(
            """
            SELECT record FROM catalog_resource
            WHERE package_name = \(packageName) AND kind = \(Resource.field) AND path = \(path(levels))
            """)
    }

    /// The resources of an app in the order of their paths.
    ///
    /// - Parameters:
    ///   - parents: The identifiers of the resources above. Nil for any.
    ///   - last: The path of the last resource of the page before.
    func resources<Resource: CatalogResource>(
        of packageName: String, under parents: [String?] = [], after last: String = "", limit: Int = 1000
    ) throws -> [(path: String, resource: Resource)] {
        let rows = try SQLRequest<Row>(
            """
            SELECT path, record FROM catalog_resource
            WHERE package_name = \(packageName) AND kind = \(Resource.field) AND path > \(last) AND path GLOB \(Self.pattern(under: parents))
            ORDER BY path LIMIT \(limit)
            """
        ).fetchAll(database)
        return try rows.map { ($0["path"], try LocalRecord.value($0["record"])) }
    }

    /// The pattern of the paths below some identifiers. Nil stands for any identifier.
    private static func pattern(under parents: [String?]) -> String {
        (parents + [nil]).map { $0.map(literalPattern) ?? "*" }.joined(separator: " ")
    }

    /// A text as a pattern of `GLOB`, whose own signs stand for themselves.
    private static func literalPattern(_ text: String) -> String {
        String(text.flatMap { "*?[".contains($0) ? "[\($0)]" : String($0) })
    }

    /// Adds or replaces a resource.
    func keep<Resource: CatalogResource>(_ resource: Resource) throws {
        try database.insert(
            [
                "package_name": resource.packageName, "kind": Resource.field, "path": path(resource.levels),
                "record": try LocalRecord.text(resource),
            ], into: "catalog_resource", replacing: "package_name, kind, path")
    }

    func remove<Resource: CatalogResource>(_ resource: Resource) throws {
        try database.execute(
            literal: """
                DELETE FROM catalog_resource WHERE package_name = \(resource.packageName)
                    AND kind = \(Resource.field) AND path = \(path(resource.levels))
                """)
    }

    /// The number of offers below a resource.
    func countOffers(_ type: any CatalogResource.Type, under levels: [String], of packageName: String) throws -> Int {
        try SQLRequest<Int>(
            """
            SELECT count(*) FROM catalog_resource WHERE package_name = \(packageName) AND kind = \(type.field)
                AND path GLOB \(Self.pattern(under: levels))
            """
        ).fetchOne(database) ?? 0
    }

    func removeOffers(_ type: any CatalogResource.Type, under levels: [String], of packageName: String) throws {
        try database.execute(
            literal: """
                DELETE FROM catalog_resource WHERE package_name = \(packageName) AND kind = \(type.field)
                    AND path GLOB \(Self.pattern(under: levels))
                """)
    }
}

/// The products and offers that are sold.
extension PlayBooks {
    package func product(_ productId: String, of packageName: String) throws -> OneTimeProduct? {
        try resource([productId], of: packageName)
    }

    /// The one-time products of an app in the order of their identifiers.
    package func products(of packageName: String) throws -> [OneTimeProduct] {
        try resources(of: packageName).map(\.resource)
    }

    package func subscriptionProduct(_ productId: String, of packageName: String) throws -> CatalogSubscription? {
        try resource([productId], of: packageName)
    }

    func subscriptionOffer(_ offerId: String, of basePlanId: String, productId: String, in packageName: String) throws
        -> CatalogOffer?
    {
        try resource([productId, basePlanId, offerId], of: packageName)
    }
}
