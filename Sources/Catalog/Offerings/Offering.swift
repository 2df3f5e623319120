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

    /// Checks that the catalog has the products.
    func check(in catalog: Catalog) throws(CatalogError) {
        for package in try entry.required("packages").elements() {
            _ = try package.required("productID").benefit(in: catalog)
        }
    }
}

/// The administered rights and offerings of an app. They take precedence over the file.
package struct OfferingChanges: Sendable {
    /// The rights, in the order of their creation.
    package var rights: [Right] = []
    /// The offerings, in the order of their creation.
    package var offerings: [Offering] = []
    /// The identifier of the current offering; nil if the file defines it.
    package var currentOffering: String?

    package init() {}
}

/// The rights and offerings of a catalog: an optional file beside the `.storekit` file.
struct OfferingMap: Sendable {
    /// The maximum size of the file, in bytes.
    static let maximumSize = 1 << 20
    private static let keys = ["currentOffering", "offerings", "rights"]

    /// The rights, in the order of the file, then of their creation.
    var rights: [Right] = []
    /// The offerings, in the order of the file, then of their creation.
    var offerings: [Offering] = []
    /// The identifier of the offering that apps show unless they ask for another; nil for none.
    var currentOffering: String?
    /// The rights and offerings that differ from the files.
    var administered = OfferingChanges()

    /// Without rights and offerings.
    init() {}

    init(_ root: CatalogReader) throws(CatalogError) {
        try root.check(keys: Self.keys)
        let rights = try root.optional("rights")?.elements(upTo: Catalog.maximumRights) ?? []
        self.rights = try rights.unique { entry throws(CatalogError) in
            let right = try Right(entry)
            return (right, right.name)
        }
        let offerings = try root.optional("offerings")?.elements(upTo: Catalog.maximumOfferings) ?? []
        self.offerings = try offerings.unique { entry throws(CatalogError) in
            let offering = try Offering(entry)
            return (offering, offering.identifier)
        }
        guard let current = try root.optional("currentOffering") else { return }
        let identifier = try current.string()
        guard offering(identifier) != nil else {
            throw current.failure(
                "there is no offering \"\(identifier)\""
                    + CatalogReader.suggestion(for: identifier, among: self.offerings.map(\.identifier)))
        }
        currentOffering = identifier
    }

    mutating func set(_ right: Right) {
        Self.set(right, in: &rights, \.name)
        Self.set(right, in: &administered.rights, \.name)
    }

    mutating func set(_ offering: Offering) {
        Self.set(offering, in: &offerings, \.identifier)
        Self.set(offering, in: &administered.offerings, \.identifier)
    }

    private static func set<Value>(_ value: Value, in values: inout [Value], _ name: (Value) -> String) {
        if let place = values.firstIndex(where: { name($0).hasSameBytes(as: name(value)) }) {
            values[place] = value
        } else {
            values.append(value)
        }
    }

    func right(_ name: String) -> Right? {
        rights.first { $0.name.hasSameBytes(as: name) }
    }

    func offering(_ identifier: String) -> Offering? {
        offerings.first { $0.identifier.hasSameBytes(as: identifier) }
    }
}
