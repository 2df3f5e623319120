import Catalog
import Ledger
import Proofs
import Synchronization
import Vocabulary

/// The use cases that change the catalogs of the apps at run time. The changes in the ledger override the files.
package final class CatalogService: Sendable {
    /// The largest number of products defined in the ledger.
    static let maximumProducts = 1000
    /// The largest total size of uploaded pictures, in bytes. They are in memory.
    package static let maximumPictures = 64 << 20
    /// The largest size of a definition, in bytes.
    package static let maximumDefinition = 32 * 1024
    /// The number of attempts at a change if others change the catalog meanwhile.
    private static let maximumAttempts = 5

    package let apps: Apps
    package let ledger: Ledger
    private let clock: any WallClock
    private let state = Mutex(State())

    private struct State {
        /// The uploaded pictures in memory, by their SHA-256.
        var pictures: [[UInt8]: Picture] = [:]
        /// The number of times that the files were replaced.
        var reloads = 0
    }

    /// Reads the changes so far.
    ///
    /// - Throws: `CatalogError` if the changes conflict with the files; `StorageFault`.
    package init(apps: Apps, ledger: Ledger, clock: any WallClock) async throws {
        self.apps = apps
        self.ledger = ledger
        self.clock = clock
        try await refresh()
    }

    /// Applies the changes since the last call, also those of other processes.
    ///
    /// - Throws: The errors of the initializer. The catalog is then unchanged.
    package func refresh() async throws {
        guard try await ledger.read(.snapshot, { try $0.catalogRevision() }) != apps.first.current.revision else {
            return
        }
        while true {
            let reloads = state.withLock(\.reloads)
            let files = apps.all.map(\.files)
            let changes = try await changes()
            let catalogs = try files.map { try changes.record.catalog(changing: $0, pictures: changes.pictures) }
            let isDone = state.withLock { state in
                guard state.reloads == reloads else { return false }
                // Another call may have read a later revision.
                guard changes.record.revision > apps.first.current.revision else { return true }
                for (app, catalog) in zip(apps.all, catalogs) {
                    app.current.replace(with: catalog, revision: changes.record.revision)
                }
                state.pictures = changes.picturesByDigest
                return true
            }
            if isDone { return }
        }
    }

    /// Replaces the files of all apps. The changes in the ledger override the new ones, too.
    ///
    /// - Parameter files: The catalogs of the apps, in their order.
    /// - Throws: The errors of the initializer, and those of new apps. The catalogs are then unchanged.
    package func reload(_ files: [Catalog]) async throws {
        _ = try Apps(files.map { App($0) })
        guard files.count == apps.all.count,
            zip(files, apps.all).allSatisfy({ $0.bundleIdentifier.hasSameBytes(as: $1.bundleIdentifier) })
        else {
            throw CatalogError(
                file: Catalog.itemsFile, key: "bundleId",
                reason: "the app of a catalog cannot change while the service runs. Restart the service")
        }
        while true {
            let changes = try await changes()
            let catalogs = try files.map { try changes.record.catalog(changing: $0, pictures: changes.pictures) }
            let isDone = state.withLock { state in
                guard changes.record.revision >= apps.first.current.revision else { return false }
                for (app, (files, catalog)) in zip(apps.all, zip(files, catalogs)) {
                    app.replace(files: files, with: catalog, revision: changes.record.revision)
                }
                state = State(pictures: changes.picturesByDigest, reloads: state.reloads + 1)
                return true
            }
            if isDone { return }
        }
    }

    /// The changes in the ledger, with the pictures of items.
    private struct Changes {
        let record: CatalogRecord
        let pictures: [Item: Picture]

        var picturesByDigest: [[UInt8]: Picture] {
            Dictionary(pictures.compactMap { item, picture in record.pictures[item].map { ($0, picture) } }) {
                first, _ in first
            }
        }
    }

    private func changes() async throws -> Changes {
        let known = state.withLock(\.pictures)
        let (record, new) = try await ledger.read { transaction in
            let record = try transaction.catalogRecord()
            var new: [[UInt8]: [UInt8]] = [:]
            for (item, digest) in record.pictures where known[digest] == nil {
                new[digest] = try transaction.catalogPicture(of: item)
            }
            return (record, new)
        }
        var read = known
        for (item, digest) in record.pictures {
            if let bytes = new[digest] { read[digest] = try Picture(bytes: bytes, file: "the picture of \(item)") }
        }
        return Changes(record: record, pictures: record.pictures.compactMapValues { read[$0] })
    }

    /// A valid change to a revision of the catalog. It takes effect when it is added.
    package struct Pending: Sendable {
        let change: CatalogChange
        let picture: [UInt8]?
        /// True if there was no such product, right or offering before.
        package let isNew: Bool
    }

    /// Prepares the definition of a new product, right or offering, of an existing one, or of the current offering.
    ///
    /// - Parameters:
    ///   - limit: The limit of a caller who may not give what another app's products give; nil for a caller of all apps.
    ///   - key: The identifier of the caller's API key.
    /// - Returns: Nil if the subject has this definition already.
    /// - Throws: `CatalogChangeError`; `AppLimitError`.
    package func define(
        _ object: JSONObject,
        as subject: CatalogSubject,
        in app: App,
        seeing limit: AppLimit? = nil,
        by key: String
    ) async throws -> Pending? {
        switch subject.kind {
        case .product: try await define(object, as: subject.identifier, in: app, seeing: limit, by: key)
        case .right, .offering: try defineOffered(object, as: subject, in: app, by: key)
        case .currentOffering: try setCurrentOffering(try Catalog.currentOffering(object), in: app, by: key)
        }
    }

    /// Prepares the definition of a product.
    package func define(
        _ object: JSONObject,
        as productIdentifier: String,
        in app: App,
        seeing limit: AppLimit? = nil,
        by key: String
    ) async throws -> Pending? {
        var (catalog, revision) = app.current.snapshot
        let present = catalog.product(productIdentifier)
        let before = catalog.definition(of: productIdentifier)
        let definition: ProductDefinition
        do {
            try ProductDefinition.check(object, of: productIdentifier, replacing: before)
            definition = try ProductDefinition(object, of: productIdentifier, currency: app.files.storefront.currency)
        } catch {
            throw CatalogChangeError.productInvalid(error)
        }
        if let present, present.type != definition.product.type {
            throw CatalogChangeError.productTypeFixed(present.type)
        }
        do { try apps.check(definition.product, of: app) } catch {
            throw CatalogChangeError.productInvalid(
                CatalogError(file: productIdentifier, key: "type", reason: "another app sells it as another type"))
        }
        if definition.isSame(as: before) { return nil }
        let benefit = catalog.benefit(of: productIdentifier)
        do { try catalog.define(definition) } catch { throw CatalogChangeError.productInvalid(error) }
        if catalog.benefit(of: productIdentifier) != benefit {
            try limit?.check(catalog.benefit(of: productIdentifier))
        }
        try await check(catalog.benefit(of: productIdentifier), isAs: benefit, of: productIdentifier)
        let text: String
        do { text = try Self.text(definition.object, of: productIdentifier) } catch {
            throw CatalogChangeError.productInvalid(error)
        }
        guard catalog.administered.count <= Self.maximumProducts else { throw CatalogChangeError.productsTooMany }
        return pending(
            .definition(text), of: .product(productIdentifier), in: app, by: key, at: revision, isNew: present == nil)
    }

    /// Checks that the benefit of a redeemed product stays the same: the items, periods and balances of users depend on it.
    private func check(_ benefit: Benefit?, isAs before: Benefit?, of productIdentifier: String) async throws {
        guard let before, benefit != before else { return }
        let isRedeemed = try await ledger.read { try $0.isRedeemed(productIdentifier) }
        if isRedeemed { throw CatalogChangeError.productBenefitFixed }
    }

    /// Prepares the restoration of the files' definition, or the removal of the subject if the files have none.
    ///
    /// - Returns: Nil if the files' definition is in force already.
    /// - Throws: `CatalogChangeError`.
    package func revert(_ subject: CatalogSubject, in app: App, by key: String) async throws -> Pending? {
        var (catalog, revision) = app.current.snapshot
        let (isProduct, identifier) = (subject.kind == .product, subject.identifier)
        guard subject == .currentOffering || catalog.definition(of: subject) != nil else { throw subject.notFound }
        guard catalog.isAdministered(subject) || isProduct && catalog.isWithdrawn(identifier) else { return nil }
        let benefit = catalog.benefit(of: identifier)
        do { try catalog.revert(subject, to: app.files) } catch { throw subject.invalid(error) }
        if isProduct { try await check(catalog.benefit(of: identifier), isAs: benefit, of: identifier) }
        return pending(.reversion, of: subject, in: app, by: key, at: revision)
    }

    /// Prepares the withdrawal of a product from sale, or its return. Sold products stay valid.
    ///
    /// - Returns: Nil if the product is in this state already.
    /// - Throws: `CatalogChangeError`, `productNotFound`.
    package func setWithdrawn(
        _ isWithdrawn: Bool,
        _ productIdentifier: String,
        in app: App,
        by key: String
    ) throws(CatalogChangeError) -> Pending? {
        let (catalog, revision) = app.current.snapshot
        guard catalog.product(productIdentifier) != nil else { throw .productNotFound }
        guard catalog.isWithdrawn(productIdentifier) != isWithdrawn else { return nil }
        return pending(
            isWithdrawn ? .withdrawal : .restoration, of: .product(productIdentifier), in: app, by: key, at: revision)
    }

    /// Prepares a new picture of the item that a product grants.
    ///
    /// - Parameter limit: The limit of a caller who may not change the picture of another app's item; nil for a caller of all
    ///   apps.
    /// - Returns: Nil if the item has this picture already.
    /// - Throws: `CatalogChangeError`, `productNotFound`, `pictureOfNoItem`; `AppLimitError`.
    package func setPicture(
        _ picture: Picture,
        of productIdentifier: String,
        in app: App,
        seeing limit: AppLimit? = nil,
        by key: String
    ) throws -> Pending? {
        let (catalog, revision) = app.current.snapshot
        guard let benefit = catalog.benefit(of: productIdentifier) else { throw CatalogChangeError.productNotFound }
        guard let item = benefit.item else { throw CatalogChangeError.pictureOfNoItem }
        try limit?.check(item)
        guard catalog.pictures[item] != picture else { return nil }
        let digest = DigestAlgorithm.sha256.digest(of: picture.bytes)
        return pending(
            .picture(of: item, digest: digest), of: .product(productIdentifier), in: app, by: key, at: revision,
            picture: picture.bytes)
    }

    func pending(
        _ content: CatalogChange.Content,
        of subject: CatalogSubject,
        in app: App,
        by key: String,
        at revision: Int64,
        picture: [UInt8]? = nil,
        isNew: Bool = false
    ) -> Pending {
        Pending(
            change: CatalogChange(
                of: subject, content, after: revision, in: app.bundleIdentifier, by: key, at: clock.now()),
            picture: picture, isNew: isNew)
    }

    /// Adds a change to the ledger. The caller applies it with `refresh`.
    ///
    /// - Returns: False if another change came first. The caller prepares the change again.
    /// - Throws: `CatalogChangeError`, `picturesTooLarge`.
    package func add(_ pending: Pending) async throws -> Bool {
        try await ledger.write {
            try $0.add(pending.change, picture: pending.picture, maximumPictures: Self.maximumPictures)
        }
    }

    package enum Outcome: Sendable {
        case unchanged
        case changed
        /// A product, right or offering was created.
        case created
    }

    /// Makes a change to the present catalog and applies it. The change is prepared again if another caller has changed the
    /// catalog meanwhile.
    ///
    /// - Parameter prepare: Prepares the change; nil if none is needed.
    /// - Returns: Nil if other callers were always first.
    /// - Throws: The errors of `prepare`, of `add` and of `refresh`.
    package func perform(_ prepare: () async throws -> Pending?) async throws -> Outcome? {
        for _ in 0..<Self.maximumAttempts {
            guard let pending = try await prepare() else { return .unchanged }
            let isAdded = try await add(pending)
            try await refresh()
            if isAdded { return pending.isNew ? .created : .changed }
        }
        return nil
    }
}

/// Changes of rights and offerings.
extension CatalogService {
    /// Prepares the definition of a right or an offering.
    private func defineOffered(
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
