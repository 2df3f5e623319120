import AppStore
import Catalog
import Foundation
import Proofs

/// The shipped catalog in a separate store. Its keys are made once and shared, because making RSA keys is slow.
package struct TestShop: Sendable {
    package let folder: TemporaryFolder
    package let catalog: Catalog
    package let clock: ManualClock
    package let store: Store

    package init(clock: ManualClock = ManualClock()) throws {
        folder = try TemporaryFolder()
        catalog = try Catalog(folder: Project.products)
        self.clock = clock
        try Self.installKeys(in: folder.folder("store"))
        store = try Self.open(folder, catalog: catalog, clock: clock)
    }

    /// Installs the shared keys in the folder of a new store.
    package static func installKeys(in storeFolder: URL) throws {
        try FileManager.default.createDirectory(at: storeFolder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: try keys.get().folder("keys"), to: storeFolder.appending(path: "keys", directoryHint: .isDirectory))
    }

    /// The same store, opened like by another process.
    ///
    /// - Parameter withdrawn: A product that is no longer in its catalog.
    package func reopened(withdrawing withdrawn: String? = nil) throws -> Store {
        guard let withdrawn else { return try Self.open(folder, catalog: catalog, clock: clock) }
        let products = try TemporaryFolder()
        for name in [Catalog.configurationFile, Catalog.itemsFile] {
            let text = try String(contentsOf: Project.products.appending(path: name), encoding: .utf8)
            // The product gets another name, so it is another product.
            try Data(text.replacing("\(withdrawn)\"", with: "\(withdrawn)x\"").utf8).write(to: products.file(name))
        }
        return try Self.open(folder, catalog: try Catalog(folder: products.url), clock: clock)
    }

    /// A verifier that trusts this store.
    package func verifier() throws -> ProofVerifier {
        ProofVerifier(
            anchors: try TrustAnchors(store.rootCertificates.compactMap { try TrustAnchor($0) }), clock: clock)
    }

    private static func open(_ folder: TemporaryFolder, catalog: Catalog, clock: ManualClock) throws -> Store {
        try Store(
            folder: folder.folder("store"), bundleIdentifier: catalog.bundleIdentifier,
            configuration: catalog.configuration, clock: clock, randomness: .system)
    }

    /// A folder with the keys of a store.
    private static let keys = Result {
        let folder = try TemporaryFolder()
        _ = try Store(
            folder: folder.url, bundleIdentifier: "any",
            configuration: try Catalog(folder: Project.products).configuration, clock: ManualClock(),
            randomness: .system)
        return folder
    }
}
