import Proofs

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
