import Foundation
import Proofs

/// The administration of rights and offerings. A change that throws leaves the catalog as it was.
extension Catalog {
    package func isAdministered(right name: String) -> Bool {
        offeringMap.administered.rights.contains { $0.name.hasSameBytes(as: name) }
    }

    package func isAdministered(offering identifier: String) -> Bool {
        offeringMap.administered.offerings.contains { $0.identifier.hasSameBytes(as: identifier) }
    }

    package var isCurrentOfferingAdministered: Bool { offeringMap.administered.currentOffering != nil }

    /// Creates or changes a right.
    ///
    /// - Throws: `CatalogError` for a product or item that the catalog does not have.
    package mutating func define(_ right: Right) throws(CatalogError) {
        var changed = self
        changed.offeringMap.set(right)
        try changed.checkOfferings()
        self = changed
    }

    /// Creates or changes an offering.
    ///
    /// - Throws: `CatalogError` for a product that the catalog does not have.
    package mutating func define(_ offering: Offering) throws(CatalogError) {
        var changed = self
        changed.offeringMap.set(offering)
        try changed.checkOfferings()
        self = changed
    }

    /// Makes an offering the current one.
    ///
    /// - Throws: `CatalogError` for an unknown offering.
    package mutating func setCurrentOffering(_ identifier: String) throws(CatalogError) {
        var changed = self
        changed.offeringMap.currentOffering = identifier
        changed.offeringMap.administered.currentOffering = identifier
        try changed.checkOfferings()
        self = changed
    }

    /// Restores the files' definition of a right, or removes the right if the files have none.
    package mutating func revert(right name: String, to files: Catalog) throws(CatalogError) {
        var changes = offeringMap.administered
        changes.rights.removeAll { $0.name.hasSameBytes(as: name) }
        try replaceOfferings(with: changes, over: files)
    }

    /// Restores the files' definition of an offering, or removes the offering if the files have none.
    ///
    /// - Throws: `CatalogError` if it was the current offering.
    package mutating func revert(offering identifier: String, to files: Catalog) throws(CatalogError) {
        var changes = offeringMap.administered
        changes.offerings.removeAll { $0.identifier.hasSameBytes(as: identifier) }
        try replaceOfferings(with: changes, over: files)
    }

    /// Makes the files' current offering the current one again.
    package mutating func revertCurrentOffering(to files: Catalog) throws(CatalogError) {
        var changes = offeringMap.administered
        changes.currentOffering = nil
        try replaceOfferings(with: changes, over: files)
    }

    private mutating func replaceOfferings(with changes: OfferingChanges, over files: Catalog) throws(CatalogError) {
        var changed = self
        changed.offeringMap = files.offeringMap
        changed.apply(changes)
        try changed.checkOfferings()
        self = changed
    }

    /// Applies changes without a check.
    mutating func apply(_ changes: OfferingChanges) {
        for right in changes.rights { offeringMap.set(right) }
        for offering in changes.offerings { offeringMap.set(offering) }
        guard let current = changes.currentOffering else { return }
        offeringMap.currentOffering = current
        offeringMap.administered.currentOffering = current
    }
}

extension Catalog {
    /// The name of the file with rights and offerings. A catalog without either has no such file.
    package static let offeringsFile = "Offerings.json"
    /// The maximum number of rights.
    package static let maximumRights = 200
    /// The maximum number of offerings.
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

    /// The packages of an offering whose products are for sale.
    package func packagesForSale(of offering: Offering) -> [Offering.Package] {
        offering.packages.filter { !isWithdrawn($0.productIdentifier) }
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
        let file = folder.appending(path: offeringsFile, directoryHint: .notDirectory)
        guard FileManager.default.fileExists(atPath: file.path) else { return OfferingMap() }
        let bytes = try CatalogReader.bytes(of: file)
        guard bytes.count <= OfferingMap.maximumSize else {
            throw CatalogError(file: file.path, reason: "it is larger than \(OfferingMap.maximumSize / 1024) KB")
        }
        return try OfferingMap(try CatalogReader(file: file.path, json: bytes))
    }
}
