import Foundation
import Proofs

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
