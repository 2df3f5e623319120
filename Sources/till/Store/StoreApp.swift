import AppStore
import Catalog
import Foundation
import Proofs

/// The app that the store of a data directory sells for. The file `app.json` keeps it for later commands.
struct StoreApp {
    let bundleIdentifier: String
    let configuration: StoreKitConfiguration
    let environment: AppStoreEnvironment
    /// The app's number in the App Store; nil for the one of the configuration.
    let appAppleIdentifier: Int64?

    /// The content of `app.json`.
    private struct Record: Codable {
        let bundleId: String
        let environment: AppStoreEnvironment
        let appAppleId: Int64?
    }

    private static let recordName = "app.json"
    private static let configurationName = "Products.storekit"

    /// The app that a store was made for, else the app of a catalog.
    init(storeFolder folder: URL, catalogFolder: URL) throws {
        let file = folder.appending(path: Self.recordName, directoryHint: .notDirectory)
        guard let data = try? Data(contentsOf: file) else {
            let catalog = try Catalog(folder: catalogFolder)
            bundleIdentifier = catalog.bundleIdentifier
            configuration = catalog.configuration
            environment = .sandbox
            appAppleIdentifier = nil
            return
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: data) else {
            throw StoreAppError(message: "The file \(file.path) is damaged: name the app again with till store.")
        }
        bundleIdentifier = record.bundleId
        environment = record.environment
        appAppleIdentifier = record.appAppleId
        configuration = try StoreKitConfiguration(
            file: folder.appending(path: Self.configurationName, directoryHint: .notDirectory).path)
    }

    /// A new app for a store without one, or the same app with other products.
    ///
    /// - Parameters:
    ///   - environment: Nil for that of the store, or else the sandbox.
    ///   - appAppleIdentifier: Nil for that of the store.
    init(
        bundleIdentifier: String,
        products: String,
        environment: AppStoreEnvironment?,
        appAppleIdentifier: Int64?,
        storeFolder: URL,
        catalogFolder: URL
    ) throws {
        let known = try? StoreApp(storeFolder: storeFolder, catalogFolder: catalogFolder)
        self.bundleIdentifier = bundleIdentifier
        self.environment = environment ?? known?.environment ?? .sandbox
        self.appAppleIdentifier = appAppleIdentifier ?? known?.appAppleIdentifier
        configuration = try StoreKitConfiguration(file: products)
    }

    /// Writes the app into the store's folder.
    ///
    /// - Throws: `StoreAppError` if the store has sold for another app.
    func keep(in folder: URL, catalogFolder: URL) throws {
        // A damaged file is replaced.
        let known = try? StoreApp(storeFolder: folder, catalogFolder: catalogFolder)
        let hasSold = FileManager.default.fileExists(
            atPath: folder.appending(path: "store.sqlite", directoryHint: .notDirectory).path)
        if let known, hasSold, known.bundleIdentifier != bundleIdentifier || known.environment != environment {
            throw StoreAppError(
                message:
                    "This data directory has a store of \(known.bundleIdentifier) in \(known.environment.rawValue): "
                    + "name another directory with --data.")
        }
        try Data(configuration.text.utf8).write(
            to: folder.appending(path: Self.configurationName, directoryHint: .notDirectory), options: .atomic)
        let record = Record(
            bundleId: bundleIdentifier, environment: environment, appAppleId: appAppleIdentifier)
        try JSONEncoder().encode(record).write(
            to: folder.appending(path: Self.recordName, directoryHint: .notDirectory), options: .atomic)
    }

    func open(_ folder: URL) throws(StoreError) -> Store {
        try Store(
            folder: folder, bundleIdentifier: bundleIdentifier, configuration: configuration,
            environment: environment, appAppleIdentifier: appAppleIdentifier, clock: SystemClock(), randomness: .system)
    }
}

/// An error for a store whose app is unknown.
struct StoreAppError: CodedError {
    let message: String

    var code: String { "storeAppInvalid" }
}

extension DataDirectory {
    /// The store of this directory, and its products.
    func store() throws -> Store {
        try StoreApp(storeFolder: storeFolder, catalogFolder: catalogFolder).open(storeFolder)
    }

    /// Adds the store's roots to the certificates that the service trusts.
    func trust(_ store: Store) throws {
        for root in store.rootCertificates {
            if let anchor = try TrustAnchor(root) { try TrustFolder(trustFolder).add(anchor) }
        }
    }
}
