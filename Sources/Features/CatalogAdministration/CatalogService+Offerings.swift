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
        switch subject {
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

    /// Prepares the restoration of the files' right, offering or current offering, or the removal if the files have none.
    ///
    /// - Returns: Nil if the files' definition is in force, or for a product.
    package func revert(_ subject: CatalogSubject, in app: App, by key: String) throws(CatalogChangeError) -> Pending? {
        var (catalog, revision) = app.current.snapshot
        if case .product = subject { return nil }
        guard subject == .currentOffering || catalog.definition(of: subject) != nil else { throw subject.notFound }
        guard catalog.isAdministered(subject) else { return nil }
        do { try catalog.revert(subject, to: app.files) } catch { throw subject.invalid(error) }
        return pending(.reversion, of: subject, in: app, by: key, at: revision)
    }

    /// Prepares an earlier definition of a right, an offering or the current offering.
    ///
    /// - Parameter object: The definition; nil for none.
    func restore(
        _ object: JSONObject?,
        of subject: CatalogSubject,
        in app: App,
        by key: String
    ) throws -> Pending? {
        guard app.catalog.definition(of: subject) != object else { return nil }
        guard let object, object != app.files.definition(of: subject) else {
            return try revert(subject, in: app, by: key)
        }
        guard subject == .currentOffering else { return try define(object, as: subject, in: app, by: key) }
        return try setCurrentOffering(try Catalog.currentOffering(object), in: app, by: key)
    }

    private static func text(_ object: JSONObject, of name: String) throws(CatalogError) -> String {
        let text = JSONValue.object(object).compactText
        guard text.utf8.count <= maximumDefinition else {
            throw CatalogError(file: name, reason: "it is larger than \(maximumDefinition / 1024) KB")
        }
        return text
    }
}

extension CatalogSubject {
    /// The error of a right, or of an offering.
    fileprivate func invalid(_ error: CatalogError) -> CatalogChangeError {
        if case .right = self { .rightInvalid(error) } else { .offeringInvalid(error) }
    }

    fileprivate var notFound: CatalogChangeError { if case .right = self { .rightNotFound } else { .offeringNotFound } }
}
