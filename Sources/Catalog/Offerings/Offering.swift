import Proofs

/// A selection of products that an app shows together, in packages.
package struct Offering: Sendable {
    /// A product in an offering, under a name that the app knows, such as `$rc_monthly`.
    package struct Package: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String
    }

    /// The maximum number of packages of an offering.
    static let maximumPackages = 100
    /// The maximum size of the metadata as JSON text without white space, in bytes.
    static let maximumMetadata = 4096
    private static let keys = ["description", "identifier", "metadata", "packages"]

    package let identifier: String
    package let description: String
    /// Values for the app, such as texts and colors of its paywall; it may be empty.
    package let metadata: JSONObject
    /// The packages, in the order in which the app shows them.
    package let packages: [Package]
    /// The definition, for errors about its products.
    private let entry: CatalogReader

    /// Reads an administered offering.
    ///
    /// - Parameter object: The definition. It may leave out the identifier.
    /// - Throws: `CatalogError` for the first invalid key. The error names the offering as its file.
    package init(_ object: JSONObject, identifiedBy identifier: String) throws(CatalogError) {
        try self.init(
            try CatalogReader(file: identifier, value: .object(object)).naming("identifier", identifier))
    }

    init(_ entry: CatalogReader) throws(CatalogError) {
        try entry.check(keys: Self.keys)
        self.entry = entry
        identifier = try entry.required("identifier").name()
        description = try entry.required("description").description()
        metadata = try entry.optional("metadata")?.object(upTo: Self.maximumMetadata) ?? JSONObject()
        packages = try entry.required("packages").elements(upTo: Self.maximumPackages).unique {
            package throws(CatalogError) in
            try package.check(keys: ["identifier", "productID"])
            let identifier = try package.required("identifier").name()
            let product = try package.required("productID").string()
            return (Package(identifier: identifier, productIdentifier: product), identifier)
        }
    }

    /// The definition in the form of the file, without the identifier.
    package var definition: JSONObject {
        var object: JSONObject = ["description": .string(description)]
        if !metadata.members.isEmpty { _ = object.add("metadata", .object(metadata)) }
        let packages = packages.map {
            JSONValue.object(["identifier": .string($0.identifier), "productID": .string($0.productIdentifier)])
        }
        _ = object.add("packages", .array(packages))
        return object
    }

    func check(in catalog: Catalog) throws(CatalogError) {
        for package in try entry.required("packages").elements() {
            _ = try package.required("productID").benefit(in: catalog)
        }
    }
}
