import Foundation
import Proofs
import Vocabulary

/// The part of a catalog that a change is about.
package struct CatalogSubject: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case product
        case right
        case offering
        case currentOffering

        package func identified(by identifier: String) -> CatalogSubject {
            CatalogSubject(kind: self, identifier: identifier)
        }
    }

    package let kind: Kind
    /// The identifier of the product or offering, or the name of the right; empty for the current offering.
    package let identifier: String

    package static func product(_ identifier: String) -> Self { Kind.product.identified(by: identifier) }

    package static func right(_ name: String) -> Self { Kind.right.identified(by: name) }

    package static func offering(_ identifier: String) -> Self { Kind.offering.identified(by: identifier) }

    package static let currentOffering = Kind.currentOffering.identified(by: "")
}

/// Rights and offerings: those of an optional file beside the `.storekit` file, those of administrators, or both.
package struct OfferingMap: Sendable {
    /// The maximum size of the file, in bytes.
    static let maximumSize = 1 << 20
    private static let keys = ["currentOffering", "offerings", "rights"]

    /// The rights, in the order of the file, then of their creation.
    private(set) var rights: [Right] = []
    /// The offerings, in the order of the file, then of their creation.
    private(set) var offerings: [Offering] = []
    /// The identifier of the offering that apps show unless they ask for another; nil for none.
    private(set) var currentOffering: String?

    /// Without rights and offerings.
    package init() {}

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

    /// Creates or changes a right, an offering or the current offering. A product is ignored.
    ///
    /// - Throws: `CatalogError` for the first invalid key.
    package mutating func define(_ object: JSONObject, as subject: CatalogSubject) throws(CatalogError) {
        switch subject.kind {
        case .product: break
        case .right: Self.set(try Right(object, named: subject.identifier), in: &rights, \.name)
        case .offering:
            Self.set(try Offering(object, identifiedBy: subject.identifier), in: &offerings, \.identifier)
        case .currentOffering: currentOffering = try Catalog.currentOffering(object)
        }
    }

    mutating func remove(_ subject: CatalogSubject) {
        switch subject.kind {
        case .product: break
        case .right: rights.removeAll { $0.name.hasSameBytes(as: subject.identifier) }
        case .offering: offerings.removeAll { $0.identifier.hasSameBytes(as: subject.identifier) }
        case .currentOffering: currentOffering = nil
        }
    }

    /// Adds changes. They take precedence.
    mutating func merge(_ changes: OfferingMap) {
        for right in changes.rights { Self.set(right, in: &rights, \.name) }
        for offering in changes.offerings { Self.set(offering, in: &offerings, \.identifier) }
        currentOffering = changes.currentOffering ?? currentOffering
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

    /// The definition of a right, an offering or the current offering; nil for none.
    package func definition(of subject: CatalogSubject) -> JSONObject? {
        switch subject.kind {
        case .product: nil
        case .right: right(subject.identifier)?.definition
        case .offering: offering(subject.identifier)?.definition
        case .currentOffering: currentOffering.map(Catalog.definition(ofCurrentOffering:))
        }
    }
}

/// The administration of rights and offerings. A change that throws leaves the catalog as it was.
extension Catalog {
    /// True if a subject differs from the files.
    package func isAdministered(_ subject: CatalogSubject) -> Bool {
        subject.kind == .product
            ? isAdministered(subject.identifier) : offeringChanges.definition(of: subject) != nil
    }

    package func definition(of subject: CatalogSubject) -> JSONObject? {
        subject.kind == .product ? definition(of: subject.identifier) : offeringMap.definition(of: subject)
    }

    /// The definition of the current offering, as the ledger stores it.
    package static func definition(ofCurrentOffering identifier: String) -> JSONObject {
        ["identifier": .string(identifier)]
    }

    /// The identifier in a stored definition of the current offering.
    package static func currentOffering(_ object: JSONObject) throws(CatalogError) -> String {
        guard let identifier = object.text("identifier") else {
            throw CatalogError(file: "The current offering", key: "identifier", reason: "the key is missing")
        }
        return identifier
    }

    /// Creates or changes rights and offerings.
    ///
    /// - Throws: `CatalogError` for a product, an item or a current offering that the catalog does not have.
    package mutating func define(_ changes: OfferingMap) throws(CatalogError) {
        var changed = self
        changed.apply(changes)
        try changed.checkOfferings()
        self = changed
    }

    /// Restores the files' definition of a subject, or removes the subject if the files have none.
    ///
    /// - Throws: `CatalogError` if the definition conflicts with the others, or if it was the current offering.
    package mutating func revert(_ subject: CatalogSubject, to files: Catalog) throws(CatalogError) {
        if subject.kind == .product { return try revert(subject.identifier, to: files) }
        var (changed, changes) = (self, offeringChanges)
        changes.remove(subject)
        (changed.offeringMap, changed.offeringChanges) = (files.offeringMap, files.offeringChanges)
        changed.apply(changes)
        try changed.checkOfferings()
        self = changed
    }

    /// Applies changes without a check.
    mutating func apply(_ changes: OfferingMap) {
        offeringMap.merge(changes)
        offeringChanges.merge(changes)
    }
}

extension Catalog {
    /// The name of the file with rights and offerings. A catalog without either has no such file.
    package static let offeringsFile = "Offerings.json"
    package static let maximumRights = 200
    package static let maximumOfferings = 200

    /// The rights, in the order of the file, then of their creation.
    package var rights: [Right] { offeringMap.rights }

    /// The offerings, in the order of the file, then of their creation.
    package var offerings: [Offering] { offeringMap.offerings }

    /// The offering that apps show unless they ask for another; nil for none.
    package var currentOffering: Offering? { offeringMap.currentOffering.flatMap { offeringMap.offering($0) } }

    package func isCurrent(_ offering: Offering) -> Bool {
        offeringMap.currentOffering?.hasSameBytes(as: offering.identifier) ?? false
    }

    package func right(_ name: String) -> Right? { offeringMap.right(name) }

    package func offering(_ identifier: String) -> Offering? { offeringMap.offering(identifier) }

    /// - Parameter isAndroid: True for the packages whose products of Google Play are for sale.
    package func packagesForSale(of offering: Offering, isAndroid: Bool = false) -> [Offering.Package] {
        offering.packages.filter { !isWithdrawn(isAndroid ? $0.playProductIdentifier : $0.productIdentifier) }
    }

    /// All items that products grant or everybody owns.
    var items: Set<Item> {
        Set(ownedByEverybody + grantedItems)
    }

    /// Checks that the catalog has the products and items of its rights and offerings.
    func checkOfferings() throws(CatalogError) {
        for right in offeringMap.rights { try right.check(in: self) }
        for offering in offeringMap.offerings { try offering.check(in: self) }
        guard let current = offeringMap.currentOffering, offeringMap.offering(current) == nil else { return }
        throw CatalogError(
            file: Self.offeringsFile, key: "currentOffering", reason: "there is no offering \"\(current)\"")
    }

    /// Checks the rights and offerings after the change of a product. The error names the product as its file.
    func checkOfferings(after productIdentifier: String) throws(CatalogError) {
        do { try checkOfferings() } catch {
            throw CatalogError(
                file: productIdentifier, reason: "a right or an offering needs it: \(error.message.dropLast())")
        }
    }

    /// The rights and offerings of a catalog's folder; empty if the file is missing.
    static func offerings(in folder: URL) throws(CatalogError) -> OfferingMap {
        guard let file = try CatalogReader(optional: offeringsFile, in: folder, upTo: OfferingMap.maximumSize) else {
            return OfferingMap()
        }
        return try OfferingMap(file)
    }
}

/// A selection of products that an app shows together, in packages.
package struct Offering: Sendable {
    /// A product in an offering, under a name that the app knows, such as `$rc_monthly`.
    package struct Package: Hashable, Sendable {
        package let identifier: String
        package let productIdentifier: String
        /// The differing product at Google Play; nil for the same one, without a base plan.
        package let googlePlay: PlayProduct?

        package var playProductIdentifier: String { googlePlay?.productIdentifier ?? productIdentifier }
    }

    /// The product that a package has at Google Play.
    package struct PlayProduct: Hashable, Sendable {
        /// Nil for that of the package.
        package let productIdentifier: String?
        /// The base plan of a subscription. RevenueCat's SDK for Android finds no subscription without it: `GoogleOfferingParser` of
        /// purchases-android takes such a package for a one-time product.
        package let basePlanIdentifier: String?

        init(_ entry: CatalogReader) throws(CatalogError) {
            try entry.check(keys: ["basePlanID", "productID"])
            productIdentifier = try entry.optional("productID")?.string()
            basePlanIdentifier = try entry.optional("basePlanID")?.name()
            guard productIdentifier != nil || basePlanIdentifier != nil else {
                throw entry.failure("it names neither a product nor a base plan")
            }
        }

        /// The definition in the form of the file.
        var definition: JSONValue {
            .object([
                "productID": productIdentifier.map { .string($0) },
                "basePlanID": basePlanIdentifier.map { .string($0) },
            ])
        }
    }

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
            try package.check(keys: ["googlePlay", "identifier", "productID"])
            let identifier = try package.required("identifier").name()
            let product = try package.required("productID").string()
            var googlePlay: PlayProduct?
            if let entry = try package.optional("googlePlay") { googlePlay = try PlayProduct(entry) }
            return (
                Package(identifier: identifier, productIdentifier: product, googlePlay: googlePlay), identifier
            )
        }
    }

    /// The definition in the form of the file, without the identifier.
    package var definition: JSONObject {
        let packages = packages.map {
            JSONValue.object([
                "identifier": .string($0.identifier), "productID": .string($0.productIdentifier),
                "googlePlay": $0.googlePlay?.definition,
            ])
        }
        return [
            "description": .string(description), "metadata": metadata.members.isEmpty ? nil : .object(metadata),
            "packages": .array(packages),
        ]
    }

    func check(in catalog: Catalog) throws(CatalogError) {
        for package in try entry.required("packages").elements() {
            _ = try package.required("productID").benefit(in: catalog)
            _ = try package.optional("googlePlay")?.optional("productID")?.benefit(in: catalog)
        }
    }
}
