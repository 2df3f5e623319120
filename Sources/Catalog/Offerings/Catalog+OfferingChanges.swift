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
