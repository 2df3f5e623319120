import Catalog
import Proofs

extension CatalogRecord {
    /// The catalog of an app: the files with the changes of this record.
    ///
    /// - Throws: `CatalogError` if the changes conflict with the files.
    func catalog(of app: App, pictures shown: [Item: Picture]) throws(CatalogError) -> Catalog {
        var catalog = app.files
        var definitions: [ProductDefinition] = []
        let products = products.filter { $0.app.hasSameBytes(as: app.bundleIdentifier) }
        do {
            for product in products {
                guard let text = product.definition else { continue }
                definitions.append(try definition(text, of: product.productIdentifier, in: app))
            }
            try catalog.administer(
                definitions, withdrawn: Set(products.filter(\.isWithdrawn).map(\.productIdentifier)),
                pictures: shown, offerings: try offeringChanges(of: app))
        } catch {
            throw CatalogError(
                file: "The ledger's change of \"\(error.file)\" conflicts with the catalog's files", key: error.key,
                reason: error.reason)
        }
        return catalog
    }

    private func offeringChanges(of app: App) throws(CatalogError) -> OfferingChanges {
        var changes = OfferingChanges()
        for changed in offerings where changed.app.hasSameBytes(as: app.bundleIdentifier) {
            let identifier = changed.subject.identifier
            guard let object = JSONObject.stored(changed.text) else {
                throw CatalogError(file: identifier, reason: "it is not JSON")
            }
            switch changed.subject {
            case .product: break
            case .right: changes.rights.append(try Right(object, named: identifier))
            case .offering: changes.offerings.append(try Offering(object, identifiedBy: identifier))
            case .currentOffering: changes.currentOffering = try Catalog.currentOffering(object)
            }
        }
        return changes
    }

    private func definition(
        _ text: String,
        of productIdentifier: String,
        in app: App
    ) throws(CatalogError) -> ProductDefinition {
        guard let value = try? JSONParser.parse(Array(text.utf8)), case .object(let object) = value else {
            throw CatalogError(file: productIdentifier, reason: "it is not JSON")
        }
        return try ProductDefinition(object, of: productIdentifier, currency: app.files.storefront.currency)
    }
}
