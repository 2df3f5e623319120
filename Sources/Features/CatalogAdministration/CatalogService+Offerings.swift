import Catalog
import Proofs

/// Changes of rights and offerings.
extension CatalogService {
    /// Prepares the definition of a new right, or of an existing one.
    ///
    /// - Parameter key: The identifier of the caller's API key.
    /// - Returns: Nil if the right has this definition already.
    package func define(
        _ object: JSONObject,
        asRight name: String,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        var (catalog, revision) = app.current.snapshot
        let before = catalog.right(name)?.definition
        let text: String
        do {
            let right = try Right(object, named: name)
            if right.definition == before { return nil }
            text = try Self.text(right.definition, of: name)
            try catalog.define(right)
        } catch {
            throw .rightInvalid(error)
        }
        guard catalog.rights.count <= Catalog.maximumRights else { throw .rightsTooMany }
        return pending(.definition(text), of: .right(name), in: app, by: key, at: revision, isNew: before == nil)
    }

    /// Prepares the definition of a new offering, or of an existing one.
    ///
    /// - Returns: Nil if the offering has this definition already.
    package func define(
        _ object: JSONObject,
        asOffering identifier: String,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        var (catalog, revision) = app.current.snapshot
        let before = catalog.offering(identifier)?.definition
        let text: String
        do {
            let offering = try Offering(object, identifiedBy: identifier)
            if offering.definition == before { return nil }
            text = try Self.text(offering.definition, of: identifier)
            try catalog.define(offering)
        } catch {
            throw .offeringInvalid(error)
        }
        guard catalog.offerings.count <= Catalog.maximumOfferings else { throw .offeringsTooMany }
        return pending(
            .definition(text), of: .offering(identifier), in: app, by: key, at: revision, isNew: before == nil)
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
        switch subject {
        case .product: return nil
        case .right(let name):
            guard catalog.right(name) != nil else { throw .rightNotFound }
            guard catalog.isAdministered(right: name) else { return nil }
            do { try catalog.revert(right: name, to: app.files) } catch { throw .rightInvalid(error) }
        case .offering(let identifier):
            guard catalog.offering(identifier) != nil else { throw .offeringNotFound }
            guard catalog.isAdministered(offering: identifier) else { return nil }
            do { try catalog.revert(offering: identifier, to: app.files) } catch { throw .offeringInvalid(error) }
        case .currentOffering:
            guard catalog.isCurrentOfferingAdministered else { return nil }
            do { try catalog.revertCurrentOffering(to: app.files) } catch { throw .offeringInvalid(error) }
        }
        return pending(.reversion, of: subject, in: app, by: key, at: revision)
    }

    /// Prepares the definition of a right or an offering.
    ///
    /// - Returns: Nil if it has this definition already, or for another subject.
    package func define(
        _ object: JSONObject,
        as subject: CatalogSubject,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        switch subject {
        case .right(let name): try define(object, asRight: name, in: app, by: key)
        case .offering(let identifier): try define(object, asOffering: identifier, in: app, by: key)
        case .product, .currentOffering: nil
        }
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
