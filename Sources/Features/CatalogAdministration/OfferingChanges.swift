import Catalog
import Proofs

/// Changes of rights and offerings.
extension CatalogService {
    /// Prepares the definition of a right or an offering.
    ///
    /// - Parameter key: The identifier of the caller's API key.
    /// - Returns: Nil if it has this definition already, or for another subject.
    package func define(
        _ object: JSONObject,
        as subject: CatalogSubject,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        var (catalog, revision) = app.current.snapshot
        let before = catalog.definition(of: subject)
        let text: String
        do {
            var changes = OfferingMap()
            try changes.define(object, as: subject)
            guard let definition = changes.definition(of: subject), definition != before else { return nil }
            text = try Self.text(definition, of: subject.identifier)
            try catalog.define(changes)
        } catch {
            throw subject.invalid(error)
        }
        switch subject.kind {
        case .right where catalog.rights.count > Catalog.maximumRights: throw .rightsTooMany
        case .offering where catalog.offerings.count > Catalog.maximumOfferings: throw .offeringsTooMany
        default: return pending(.definition(text), of: subject, in: app, by: key, at: revision, isNew: before == nil)
        }
    }

    /// Prepares another current offering.
    ///
    /// - Returns: Nil if the offering is the current one already.
    /// - Throws: `CatalogChangeError`, `offeringNotFound`.
    package func setCurrentOffering(
        _ identifier: String,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        let (catalog, revision) = app.current.snapshot
        guard catalog.offering(identifier) != nil else { throw .offeringNotFound }
        guard catalog.currentOffering?.identifier.hasSameBytes(as: identifier) != true else { return nil }
        let definition = JSONValue.object(Catalog.definition(ofCurrentOffering: identifier))
        return pending(.definition(definition.compactText), of: .currentOffering, in: app, by: key, at: revision)
    }

    /// The text of a definition, which has a maximum length.
    static func text(_ object: JSONObject, of name: String) throws(CatalogError) -> String {
        let text = JSONValue.object(object).compactText
        guard text.utf8.count <= maximumDefinition else {
            throw CatalogError(file: name, reason: "it is larger than \(maximumDefinition / 1024) KB")
        }
        return text
    }
}

extension CatalogSubject {
    /// The error of a product, a right or an offering.
    func invalid(_ error: CatalogError) -> CatalogChangeError {
        switch kind {
        case .product: .productInvalid(error)
        case .right: .rightInvalid(error)
        case .offering, .currentOffering: .offeringInvalid(error)
        }
    }

    package var notFound: CatalogChangeError {
        switch kind {
        case .product: .productNotFound
        case .right: .rightNotFound
        case .offering, .currentOffering: .offeringNotFound
        }
    }
}
