import Catalog
import Ledger
import Proofs
import Synchronization

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
    /// The uploaded pictures in memory, by their SHA-256.
    private let pictures = Mutex<[[UInt8]: Picture]>([:])

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
        let known = pictures.withLock(\.self)
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
        let shown = record.pictures.compactMapValues { read[$0] }
        let catalogs = try apps.all.map { app throws(CatalogError) in
            (app.current, try record.catalog(of: app, pictures: shown))
        }
        pictures.withLock { pictures in
            // Another call may have read a later revision.
            guard record.revision > apps.first.current.revision else { return }
            for (current, catalog) in catalogs { current.replace(with: catalog, revision: record.revision) }
            pictures = Dictionary(
                shown.compactMap { item, picture in record.pictures[item].map { ($0, picture) } }
            ) { first, _ in first }
        }
    }

    /// A valid change to a revision of the catalog. It takes effect when it is added.
    package struct Pending: Sendable {
        let change: CatalogChange
        let picture: [UInt8]?
        /// True if there was no such product, right or offering before.
        package let isNew: Bool
    }

    /// Prepares the definition of a new product, or of an existing one.
    ///
    /// - Parameters:
    ///   - limit: The limit of a caller who may not give what another app's products give; nil for a caller of all apps.
    ///   - key: The identifier of the caller's API key.
    /// - Returns: Nil if the product has this definition already.
    /// - Throws: `CatalogChangeError`; `AppLimitError`.
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

extension CatalogService {
    /// The changes of an app's catalog, newest first.
    package func changes(
        _ filter: CatalogChangeFilter,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogChange] {
        try await ledger.read {
            try $0.catalogChanges(filter, in: app.bundleIdentifier, before: number, limit: limit)
        }
    }

    /// The changes of an app's catalog with their subjects before and after them, newest first.
    ///
    /// - Parameter number: The number of the last change of the previous page; nil for the first page.
    package func history(
        _ filter: CatalogChangeFilter,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogRevision] {
        try await ledger.read(.snapshot) { transaction in
            try transaction.catalogChanges(
                filter, in: app.bundleIdentifier, before: number, limit: limit
            ).map { change in
                let files = app.files.definition(of: change.subject)
                let before = try transaction.subject(before: change)
                return CatalogRevision(
                    change,
                    before: CatalogRevision.State(
                        definition: before?.definition.flatMap { .stored($0) } ?? files,
                        isWithdrawn: before?.isWithdrawn ?? false),
                    files: files)
            }
        }
    }

    /// A change by its number.
    ///
    /// - Parameter subject: The subject of the change; nil for any.
    /// - Throws: `CatalogChangeError`, `changeNotFound`.
    package func revision(
        _ number: Int64, of subject: CatalogSubject? = nil, in app: App
    ) async throws -> CatalogRevision {
        guard (1..<Int64.max).contains(number),
            let found = try await history(
                subject.map { .only($0) } ?? .all, in: app, before: number + 1, limit: 1
            ).first, found.change.number == number
        else { throw CatalogChangeError.changeNotFound }
        return found
    }

    /// The number of changes that undo a reversion: the definition, and the withdrawal.
    package static let undoSteps = 2

    /// Prepares the next change on the way to the subject before a change: its definition, then its withdrawal.
    ///
    /// - Parameter limit: The limit of a caller who may not give what another app's products give; nil for a caller of all apps.
    /// - Returns: Nil if the subject is as before the change, or if the change cannot be undone.
    /// - Throws: `CatalogChangeError`; `AppLimitError`.
    package func undo(
        _ revision: CatalogRevision, in app: App, seeing limit: AppLimit? = nil, by key: String
    ) async throws -> Pending? {
        let (target, subject) = (revision.before, revision.change.subject)
        switch revision.change.content.kind {
        case .pictured: return nil
        case .withdrawn, .restored: return try setWithdrawn(target.isWithdrawn, subject.identifier, in: app, by: key)
        case .defined: return try await restore(target.definition, of: subject, in: app, seeing: limit, by: key)
        case .reverted:
            if let pending = try await restore(target.definition, of: subject, in: app, seeing: limit, by: key) {
                return pending
            }
            guard target.isWithdrawn, target.definition != nil else { return nil }
            return try setWithdrawn(true, subject.identifier, in: app, by: key)
        }
    }

    /// Prepares an earlier definition.
    ///
    /// - Parameter object: The definition; nil to remove the subject.
    private func restore(
        _ object: JSONObject?,
        of subject: CatalogSubject,
        in app: App,
        seeing limit: AppLimit?,
        by key: String
    ) async throws -> Pending? {
        let (catalog, identifier) = (app.catalog, subject.identifier)
        let (present, ofFiles) = (catalog.definition(of: subject), app.files.definition(of: subject))
        guard let object else { return present == nil ? nil : try await revert(subject, in: app, by: key) }
        switch subject.kind {
        case .product:
            // A reversion would also return the product to sale.
            let isOfFiles = try? ProductDefinition(object, of: identifier, currency: catalog.storefront.currency)
                .isSame(as: ofFiles)
            if isOfFiles == true, catalog.isAdministered(subject), !catalog.isWithdrawn(identifier) { break }
            return try await define(object, as: identifier, in: app, seeing: limit, by: key)
        case .right, .offering, .currentOffering:
            guard object != present else { return nil }
            if object == ofFiles { break }
            guard subject == .currentOffering else { return try define(object, as: subject, in: app, by: key) }
            return try setCurrentOffering(try Catalog.currentOffering(object), in: app, by: key)
        }
        return try await revert(subject, in: app, by: key)
    }
}
