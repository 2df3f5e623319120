import AppStore
import Catalog
import Foundation
import Proofs

/// The app that the store of a data directory sells for. The file `app.json` keeps it for later commands.
struct StoreApp {
    /// The content of `app.json`.
    private struct Record: Codable {
        let bundleId: String
        let environment: AppStoreEnvironment
        /// The app's number in the App Store; nil for the one of the configuration.
        let appAppleId: Int64?
    }

    let configuration: StoreKitConfiguration
    private let record: Record

    /// The app that a store was made for, else the app of a catalog.
    init(of data: DataDirectory) throws {
        guard let bytes = try? Data(contentsOf: data.storeAppFile) else {
            let catalog = try Catalog(folder: data.catalogFolder)
            configuration = catalog.configuration
            record = Record(bundleId: catalog.bundleIdentifier, environment: .sandbox, appAppleId: nil)
            return
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: bytes) else {
            throw CommandError(
                "storeAppInvalid",
                "The file \(data.storeAppFile.path) is damaged: name the app again with till store.")
        }
        self.record = record
        configuration = try StoreKitConfiguration(file: data.storeProductsFile.path)
    }

    /// Makes a store without an app sell for a new one, or for the same app other products.
    ///
    /// - Parameters:
    ///   - environment: Nil for that of the store, or else the sandbox.
    ///   - appAppleIdentifier: Nil for that of the store.
    /// - Throws: `CommandError` if the store has sold for another app.
    static func keep(
        _ bundleIdentifier: String,
        products: String,
        environment: AppStoreEnvironment?,
        appAppleIdentifier: Int64?,
        in data: DataDirectory
    ) throws {
        // A damaged file is replaced.
        let known = try? StoreApp(of: data).record
        let record = Record(
            bundleId: bundleIdentifier, environment: environment ?? known?.environment ?? .sandbox,
            appAppleId: appAppleIdentifier ?? known?.appAppleId)
        let configuration = try StoreKitConfiguration(file: products)
        let hasSold = FileManager.default.fileExists(atPath: data.storeFile.path)
        if let known, hasSold, known.bundleId != record.bundleId || known.environment != record.environment {
            throw CommandError(
                "storeAppInvalid",
                "This data directory has a store of \(known.bundleId) in \(known.environment.rawValue): "
                    + "name another directory with --data.")
        }
        try Data(configuration.text.utf8).write(to: data.storeProductsFile, options: .atomic)
        try JSONEncoder().encode(record).write(to: data.storeAppFile, options: .atomic)
    }

    func open(_ folder: URL) throws(StoreError) -> Store {
        try Store(
            folder: folder, bundleIdentifier: record.bundleId, configuration: configuration,
            environment: record.environment, appAppleIdentifier: record.appAppleId, clock: SystemClock(),
            randomness: .system)
    }
}

extension DataDirectory {
    fileprivate var storeAppFile: URL { storeFolder.appending(path: "app.json", directoryHint: .notDirectory) }

    fileprivate var storeProductsFile: URL {
        storeFolder.appending(path: "Products.storekit", directoryHint: .notDirectory)
    }

    /// The store of this directory, and its products.
    func store() throws -> Store {
        try StoreApp(of: self).open(storeFolder)
    }

    /// Adds the store's roots to the certificates that the service trusts.
    func trust(_ store: Store) throws {
        for root in store.rootCertificates {
            if let anchor = try TrustAnchor(root) { try TrustFolder(trustFolder).add(anchor) }
        }
    }
}
