import Foundation
import Synchronization

/// The public key under which Google Play, or a local one, signs the purchases of one app. The Play Console shows Google's as the licensing key.
public struct AppKey: Hashable, Sendable {
    /// The owner of the private key: `google` or `localPlay`.
    public let realm: Realm
    public let packageName: String
    /// The identifier of the app in the catalog.
    public let bundleIdentifier: String
    public let publicKey: PublicKey
    /// The SHA-256 of the SubjectPublicKeyInfo.
    public let fingerprint: [UInt8]

    /// - Parameter bundleIdentifier: The identifier of the app in the catalog; nil for the name of the package.
    public init(packageName: String, publicKey: PublicKey, bundleIdentifier: String? = nil, realm: Realm = .google) {
        self.realm = realm
        self.packageName = packageName
        self.bundleIdentifier = bundleIdentifier ?? packageName
        self.publicKey = publicKey
        fingerprint = publicKey.fingerprint
    }

    /// - Parameter base64: The key as the Play Console shows it.
    public init(packageName: String, base64: some StringProtocol, bundleIdentifier: String? = nil) throws(RSAKeyError) {
        self.init(
            packageName: packageName, publicKey: try PublicKey(rsaInformation: base64),
            bundleIdentifier: bundleIdentifier)
    }

    /// True for the name of an Android app: parts of letters, digits and underscores between points.
    public static func isPackageName(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= GooglePlayPurchase.maximumNameSize && parts.count > 1
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
                    }
            }
    }

    public static func == (left: AppKey, right: AppKey) -> Bool {
        left.realm == right.realm && left.fingerprint == right.fingerprint
            && left.packageName.hasSameBytes(as: right.packageName)
            && left.bundleIdentifier.hasSameBytes(as: right.bundleIdentifier)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(fingerprint)
    }
}

/// The file of a key: a JSON object with its members.
extension AppKey {
    /// The realms whose keys sign purchases of Google Play.
    private static let realms: [Realm] = [.google, .localPlay]

    /// - Returns: Nil for other JSON.
    init?(json bytes: [UInt8]) {
        guard case .object(let object)? = try? JSONParser.parse(bytes, limits: .init(bytes: 1 << 16)) else {
            return nil
        }
        guard let realm = object.text("realm").flatMap(Realm.init), Self.realms.contains(realm),
            let packageName = object.text("packageName"), Self.isPackageName(packageName),
            let base64 = object.text("publicKey"),
            let publicKey = try? PublicKey(rsaInformation: base64)
        else { return nil }
        self.init(
            packageName: packageName, publicKey: publicKey, bundleIdentifier: object.text("bundleId"), realm: realm)
    }

    fileprivate func json() throws -> JSONValue {
        .object([
            "realm": .string(realm.rawValue), "packageName": .string(packageName),
            "bundleId": .string(bundleIdentifier),
            "publicKey": .string(try publicKey.informationText()),
        ])
    }
}

/// The keys of apps on Google Play in a folder of trusted certificates, in files named `.json`.
extension TrustFolder {
    /// Returns the keys in the folder, in the order of their file names.
    ///
    /// - Throws: `TrustError` that names the first unusable file, or the folder.
    public func appKeys() throws(TrustError) -> [(key: AppKey, file: URL)] {
        var keys: [(key: AppKey, file: URL)] = []
        for file in try appKeyFiles() {
            guard let bytes = NamedFile.bytes(of: file), let key = AppKey(json: bytes) else {
                throw .appKeyUnreadable(path: file.path)
            }
            keys.append((key, file))
        }
        return keys
    }

    fileprivate func appKeyFiles() throws(TrustError) -> [URL] { try files(["json"]) }

    /// Adds a key to the folder, or replaces its file.
    public func add(_ key: AppKey) throws(TrustError) {
        let name = "\(key.realm.rawValue)-\(key.packageName)-\(key.fingerprint.hexadecimal.prefix(16)).json"
        do {
            try Data(try key.json().prettyText.utf8)
                .write(to: url.appending(path: name, directoryHint: .notDirectory), options: .atomic)
        } catch {
            throw .folderUnwritable(path: url.path)
        }
    }

    /// Removes a key from the folder.
    ///
    /// - Parameter fingerprint: The SHA-256 in hexadecimal, or a prefix of at least 8 digits.
    /// - Returns: The removed key; nil unless the prefix matches exactly one.
    public func removeAppKey(fingerprint: String) throws(TrustError) -> AppKey? {
        let wanted = fingerprint.lowercased().filter { $0 != ":" }
        let matching = try appKeys().filter { $0.key.fingerprint.hexadecimal.hasPrefix(wanted) }
        guard wanted.count >= 8, let entry = matching.first, matching.count == 1 else { return nil }
        do { try FileManager.default.removeItem(at: entry.file) } catch { throw .folderUnwritable(path: url.path) }
        return entry.key
    }
}

extension ProofVerifier {
    /// Creates a verifier that trusts the root certificates and the keys of apps in folders. It finds keys that are added later.
    ///
    /// - Throws: `TrustError` that names the first unusable file, or a folder; `OpenSSLError`.
    public init(trusting folders: [URL], clock: any WallClock) throws {
        self.init(
            anchors: try TrustAnchors(folders: folders), appKeys: try KnownAppKeys(folders: folders), clock: clock)
    }
}

extension [AppKey] {
    /// Reads the keys in folders of trusted certificates.
    ///
    /// - Throws: `TrustError` that names the first unusable file, or a folder.
    public init(folders: [URL]) throws(TrustError) {
        self = []
        for folder in folders { for entry in try TrustFolder(folder).appKeys() { append(entry.key) } }
    }
}

/// The keys of a verifier: fixed ones, or those of folders, to which a running service gets more.
package final class KnownAppKeys: Sendable {
    private struct State {
        var folders: [URL] = []
        var keys: [AppKey]
        /// The files of the keys. A file of another key has another name.
        var files: [URL]
    }

    private let state: Mutex<State>

    package init(_ keys: [AppKey]) {
        state = Mutex(State(keys: keys, files: []))
    }

    /// Reads the keys in folders of trusted certificates.
    ///
    /// - Throws: `TrustError` that names the first unusable file, or a folder.
    package init(folders: [URL]) throws(TrustError) {
        state = Mutex(try Self.read(folders))
    }

    package var keys: [AppKey] { state.withLock(\.keys) }

    /// Reads the keys again if files were added to the folders, or removed. The keys stay as they are if a file is unusable.
    ///
    /// - Returns: The keys; nil if they are the same.
    func reread() -> [AppKey]? {
        let known = state.withLock(\.self)
        guard !known.folders.isEmpty, let files = try? Self.files(in: known.folders), files != known.files,
            let new = try? Self.read(known.folders)
        else { return nil }
        state.withLock { $0 = new }
        return new.keys
    }

    /// Reads the keys anew.
    ///
    /// - Parameter check: Checks the keys before they are used. If it throws, they stay as they are.
    /// - Throws: `TrustError` that names the first unusable file, or a folder; the errors of `check`.
    package func reload(folders: [URL], _ check: ([AppKey]) throws -> Void) throws {
        let new = try Self.read(folders)
        try check(new.keys)
        state.withLock { $0 = new }
    }

    private static func read(_ folders: [URL]) throws(TrustError) -> State {
        // A key that is added between the two reads is read again.
        let files = try files(in: folders)
        return State(folders: folders, keys: try [AppKey](folders: folders), files: files)
    }

    private static func files(in folders: [URL]) throws(TrustError) -> [URL] {
        var files: [URL] = []
        for folder in folders { files += try TrustFolder(folder).appKeyFiles() }
        return files
    }
}
