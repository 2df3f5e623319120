import Catalog
import Foundation
import Proofs
import Service

/// The settings of one app of several: an entry of `apps` in the configuration file.
package struct AppSettings: Encodable, Sendable {
    let bundleIdentifier: String
    /// The number of the app in the App Store; nil if it is not checked.
    let appAppleIdentifier: Int64?
    /// The path of the catalog's folder.
    let catalog: String
    /// Nil for the key of the service.
    let appStoreKey: AppStoreKeySettings?
    /// The address of the App Store Server API; nil for that of the service.
    let appStoreURL: URL?
    /// The audience of tokens for this app alone; nil if there is none.
    let tokenAudience: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case bundleIdentifier = "bundle-id"
        case appAppleIdentifier = "app-apple-id"
        case catalog
        case appStoreKey = "app-store-key"
        case appStoreKeyIdentifier = "app-store-key-id"
        case appStoreIssuerIdentifier = "app-store-issuer-id"
        case appStoreURL = "app-store-url"
        case tokenAudience = "jwt-audience"
    }

    /// Reads the entries of `apps`.
    ///
    /// - Parameters:
    ///   - value: The value of `apps`.
    ///   - file: The path of the configuration file.
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
            throw ConfigurationError(
                file: file, unknown: "\(name).\(unknown)", among: known.map { "\(name).\($0)" })
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
        let key = [
            try text(.appStoreKey), try text(.appStoreKeyIdentifier), try text(.appStoreIssuerIdentifier),
        ].compactMap(\.self)
        guard key.isEmpty || key.count == 3 else {
            throw failure(.appStoreKey, "set together with app-store-key-id and app-store-issuer-id")
        }
        self.bundleIdentifier = bundleIdentifier
        self.catalog = catalog
        appStoreKey =
            key.isEmpty ? nil : AppStoreKeySettings(file: key[0], keyIdentifier: key[1], issuerIdentifier: key[2])
        appStoreURL = try text(.appStoreURL).map { address throws(ConfigurationError) in
            guard let address = ServerAddress(argument: address), address.isConfidential else {
                throw failure(.appStoreURL, "an https address without a path; http is for this machine's own")
            }
            return address.url
        }
        tokenAudience = try text(.tokenAudience)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bundleIdentifier, forKey: .bundleIdentifier)
        try container.encodeIfPresent(appAppleIdentifier, forKey: .appAppleIdentifier)
        try container.encode(catalog, forKey: .catalog)
        try container.encodeIfPresent(appStoreKey?.file, forKey: .appStoreKey)
        try container.encodeIfPresent(appStoreKey?.keyIdentifier, forKey: .appStoreKeyIdentifier)
        try container.encodeIfPresent(appStoreKey?.issuerIdentifier, forKey: .appStoreIssuerIdentifier)
        try container.encodeIfPresent(appStoreURL?.absoluteString, forKey: .appStoreURL)
        try container.encodeIfPresent(tokenAudience, forKey: .tokenAudience)
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

/// The settings of a key for the App Store Server API.
struct AppStoreKeySettings: Sendable {
    /// The path of the `.p8` file, from App Store Connect or `till store keys`.
    let file: String
    let keyIdentifier: String
    let issuerIdentifier: String
}
