import Catalog
import Foundation
import Proofs

/// The settings of one app of several: an entry of `apps` in the configuration file.
package struct AppSettings: Encodable, Sendable {
    let bundleIdentifier: String
    /// The number of the app in the App Store; nil if it is not checked.
    let appAppleIdentifier: Int64?
    /// The path of the catalog's folder.
    let catalog: String
    private let appStoreKeyFile: String?
    private let appStoreKeyIdentifier: String?
    private let appStoreIssuerIdentifier: String?
    /// The address of the App Store Server API; nil for that of the service.
    let appStoreURL: URL?
    /// The path of the key file of a service account on Google Cloud; nil for that of the service.
    let googleServiceAccount: String?
    /// The address of the Play Developer API; nil for that of the service.
    let googlePlayURL: URL?
    /// The audience of tokens for this app alone; nil if there is none.
    let tokenAudience: String?
    /// The addresses of servers that receive the notifications of this app alone; nil if there are none.
    let forwardNotifications: [String]?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case bundleIdentifier = "bundle-id"
        case appAppleIdentifier = "app-apple-id"
        case catalog
        case appStoreKeyFile = "app-store-key"
        case appStoreKeyIdentifier = "app-store-key-id"
        case appStoreIssuerIdentifier = "app-store-issuer-id"
        case appStoreURL = "app-store-url"
        case googleServiceAccount = "google-service-account"
        case googlePlayURL = "google-play-url"
        case tokenAudience = "jwt-audience"
        case forwardNotifications = "forward-notifications"
    }

    /// Nil for the key of the service.
    var appStoreKey: AppStoreKeySettings? {
        AppStoreKeySettings([appStoreKeyFile, appStoreKeyIdentifier, appStoreIssuerIdentifier].compactMap(\.self))
    }

    /// Reads the entries of `apps`.
    ///
    /// - Throws: `ConfigurationError` for the first entry that is wrong.
    static func all(_ value: JSONValue, file: String) throws(ConfigurationError) -> [AppSettings] {
        guard case .array(let entries) = value, !entries.isEmpty else {
            throw ConfigurationError(file: file, problem: "has the setting \"apps\", which must be a list of objects")
        }
        var apps: [AppSettings] = []
        for (index, entry) in entries.enumerated() {
            apps.append(try AppSettings(entry, name: "apps[\(index)]", file: file))
        }
        return apps
    }

    private init(_ value: JSONValue, name: String, file: String) throws(ConfigurationError) {
        guard case .object(let object) = value else {
            throw ConfigurationError(file: file, problem: "has the setting \"\(name)\", which must be an object")
        }
        let known = CodingKeys.allCases.map(\.rawValue)
        if let unknown = object.keys.first(where: { !known.contains($0) }) {
            throw ConfigurationError(file: file, unknown: "\(name).\(unknown)", among: known.map { "\(name).\($0)" })
        }
        func failure(_ key: CodingKeys, _ expected: String) -> ConfigurationError {
            ConfigurationError(
                file: file, problem: "has the setting \"\(name).\(key.rawValue)\", which must be \(expected)")
        }
        func text(_ key: CodingKeys) throws(ConfigurationError) -> String? {
            switch object[key.rawValue] {
            case nil, .null: return nil
            case .string(let text) where !text.isEmpty: return text
            default: throw failure(key, "a text")
            }
        }
        guard let bundleIdentifier = try text(.bundleIdentifier) else {
            throw failure(.bundleIdentifier, "the bundle identifier of the app")
        }
        guard let catalog = try text(.catalog) else { throw failure(.catalog, "the folder of the app's catalog") }
        switch object[CodingKeys.appAppleIdentifier.rawValue] {
        case nil, .null: appAppleIdentifier = nil
        case .number(let number):
            guard let identifier = number.int64, identifier > 0 else { fallthrough }
            appAppleIdentifier = identifier
        default: throw failure(.appAppleIdentifier, "the number of the app in the App Store")
        }
        (appStoreKeyFile, appStoreKeyIdentifier) = (try text(.appStoreKeyFile), try text(.appStoreKeyIdentifier))
        appStoreIssuerIdentifier = try text(.appStoreIssuerIdentifier)
        let missing = [appStoreKeyFile, appStoreKeyIdentifier, appStoreIssuerIdentifier].count { $0 == nil }
        guard [0, 3].contains(missing) else {
            throw failure(.appStoreKeyFile, "set together with app-store-key-id and app-store-issuer-id")
        }
        self.bundleIdentifier = bundleIdentifier
        self.catalog = catalog
        func address(_ key: CodingKeys) throws(ConfigurationError) -> URL? {
            guard let text = try text(key) else { return nil }
            guard let address = ServerAddress(argument: text), address.isConfidential else {
                throw failure(key, ServerAddress.expected)
            }
            return address.url
        }
        appStoreURL = try address(.appStoreURL)
        (googleServiceAccount, googlePlayURL) = (try text(.googleServiceAccount), try address(.googlePlayURL))
        tokenAudience = try text(.tokenAudience)
        switch object[CodingKeys.forwardNotifications.rawValue] {
        case nil, .null: forwardNotifications = nil
        case .array(let addresses):
            forwardNotifications = try addresses.map { address throws(ConfigurationError) in
                guard case .string(let text) = address else { throw failure(.forwardNotifications, "a list of texts") }
                return text
            }
        default: throw failure(.forwardNotifications, "a list of texts")
        }
    }

    /// The app, with the catalog from its files.
    ///
    /// - Throws: `CatalogError`; `ConfigurationError` if the catalog is of another app.
    func app() throws -> App {
        let files = try Catalog(folder: URL(filePath: catalog, directoryHint: .isDirectory))
        guard files.bundleIdentifier.hasSameBytes(as: bundleIdentifier) else {
            throw ConfigurationError(
                message: "The catalog \"\(catalog)\" is of the app \"\(files.bundleIdentifier)\", and apps says "
                    + "\"\(bundleIdentifier)\". Correct bundle-id, or bundleId in \(Catalog.itemsFile).")
        }
        return App(files, appAppleIdentifier: appAppleIdentifier)
    }
}

struct AppStoreKeySettings: Sendable {
    /// The path of the `.p8` file, from App Store Connect or `till store keys`.
    let file: String
    let keyIdentifier: String
    let issuerIdentifier: String
}

extension AppStoreKeySettings {
    /// - Parameter texts: The three settings; nil for fewer.
    init?(_ texts: [String]) {
        guard texts.count == 3 else { return nil }
        self.init(file: texts[0], keyIdentifier: texts[1], issuerIdentifier: texts[2])
    }
}
