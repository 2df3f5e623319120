import Catalog
import Foundation
import Proofs
import Vocabulary

/// The folder of the store's part and the service's part, and the catalog. Neither part reads the other's files.
struct DataDirectory {
    let folder: URL
    let catalogPlace: CatalogSource
    /// The folder of the catalog that the command or a variable names; nil for none.
    private let namedCatalog: URL?
    /// The folder of the catalog that a local store of this directory has sold last; nil if no command has named one.
    private let keptCatalog: URL?

    /// - Parameters:
    ///   - path: As given on the command line; nil for `$TILL_DATA`, else `.till`.
    ///   - catalogPath: As given on the command line; nil for `$TILL_CATALOG`, else the kept catalog, else the one that comes with Till.
    init(path: String?, catalogPath: String? = nil) {
        func named(_ argument: String?, _ variable: String) -> URL? {
            // An empty name is not the current directory.
            (argument?.isEmpty == false ? argument : ProcessInfo.variable(variable))
                .map { URL(filePath: $0, directoryHint: .isDirectory) }
        }
        folder = named(path, "TILL_DATA") ?? URL(filePath: ".till", directoryHint: .isDirectory)
        namedCatalog = named(catalogPath, "TILL_CATALOG")
        keptCatalog = (try? String(contentsOf: Self.catalogFile(in: folder), encoding: .utf8)).map {
            URL(filePath: $0.trimmingCharacters(in: .newlines), directoryHint: .isDirectory)
        }
        let known = namedCatalog ?? keptCatalog ?? InstalledFolders().products
        catalogPlace = known.map { .folder($0) } ?? .sample
    }

    var storeFolder: URL { folder.folder("store") }
    var playFolder: URL { folder.folder("play") }
    var playFile: URL { playFolder.file("play.sqlite") }
    /// The key file of the service's account at the local Google Play.
    var playAccountFile: URL { playFolder.file("service-account.json") }
    var ledgerFile: URL { serviceFolder.file("ledger.sqlite") }
    /// The certificates and the keys of apps that the service trusts besides those in `Keys/`.
    var trustFolder: URL { serviceFolder.folder("trust") }

    /// The folders of trusted certificates that exist.
    ///
    /// - Throws: `PermissionDenied`.
    var trustedFolders: [URL] {
        get throws(PermissionDenied) {
            var folders: [URL] = []
            for folder in [trustFolder, InstalledFolders().keys].compactMap(\.self) {
                guard try folder.exists(), folder.isExistingFolder else { continue }
                try folder.requireReading()
                folders.append(folder)
            }
            return folders
        }
    }

    /// The file with the path of the kept catalog.
    private static func catalogFile(in folder: URL) -> URL { folder.file("catalog") }

    var keepsCatalog: Bool { keptCatalog != nil }

    /// Keeps the catalog that the command names, for later commands without one: a subscription of a store that does not sell its
    /// product ends in place of renewing.
    ///
    /// - Throws: `CatalogError` if there is none in the folder; `CommandError`.
    func keepCatalog() throws {
        guard let path = namedCatalog?.absoluteURL.path, path != keptCatalog?.path else { return }
        _ = try catalog()
        do {
            try Data("\(path)\n".utf8).write(to: Self.catalogFile(in: folder), options: .atomic)
        } catch {
            throw unusable
        }
    }

    /// The catalog of the products and their items.
    ///
    /// - Throws: `CatalogError`, which names the file of a kept catalog that is gone.
    func catalog() throws(CatalogError) -> Catalog {
        if namedCatalog == nil, let file = keptCatalog?.file(Catalog.configurationFile),
            !FileManager.default.fileExists(atPath: file.path)
        {
            throw CatalogError(
                file: file.path,
                reason:
                    "the file is missing, and the local stores of \(folder.path) have sold this catalog. Name the folder of "
                    + "your catalog with --catalog, or delete \(Self.catalogFile(in: folder).path) for the one that comes with Till"
            )
        }
        return try catalogPlace.catalog()
    }

    private var serviceFolder: URL { folder.folder("service") }
    var storeFile: URL { storeFolder.file("store.sqlite") }

    /// - Throws: `CommandError` if there is no store; `PermissionDenied`.
    func requireStore() throws { try require(storeFile, of: "store") }

    func hasStore() throws(PermissionDenied) -> Bool { try storeFile.exists() }

    /// The clock by which subscriptions end.
    var clock: any WallClock {
        get throws { try clocks.current }
    }

    /// - Throws: `CommandError` if there is no ledger; `PermissionDenied`.
    func requireLedger() throws { try require(ledgerFile, of: "ledger") }

    /// - Throws: `CommandError` if there is no folder of trusted certificates; `PermissionDenied`.
    func requireTrustFolder() throws {
        guard try trustFolder.exists() else {
            throw missing("folder of trusted certificates", "trust a certificate first with till trust add")
        }
    }

    private func require(
        _ file: URL, of part: String, _ remedy: String = "buy something first with till buy"
    ) throws {
        guard try file.exists() else { throw missing(part, remedy) }
        // SQLite writes beside the file even if it is opened for reading.
        try file.requireWriting()
    }

    private func missing(_ part: String, _ remedy: String) -> CommandError {
        CommandError(
            "dataDirectoryMissing",
            "\"\(folder.path)\" has no \(part). Name the data directory with --data, or \(remedy).")
    }

    /// Creates the directory for its owner alone, and keeps its contents out of git. An existing directory is not changed.
    ///
    /// - Throws: `CommandError`; `PermissionDenied`.
    func prepare() throws {
        try make([storeFolder, serviceFolder, trustFolder])
        try requireWriting([storeFolder, storeFile, serviceFolder, ledgerFile])
    }

    /// Creates the service's part alone, as `prepare` does: a production service has no store.
    ///
    /// - Throws: `CommandError`; `PermissionDenied`.
    func prepareService() throws {
        try make([serviceFolder, trustFolder])
        try requireWriting([serviceFolder, ledgerFile])
    }

    /// Creates the part of the local Google Play, and the folder for the keys with which the service verifies its purchases.
    ///
    /// - Throws: `CommandError`; `PermissionDenied`.
    func preparePlay() throws {
        try make([playFolder, serviceFolder, trustFolder])
        try requireWriting([playFolder, playFile])
    }

    /// - Throws: `CommandError` if there is no local Google Play; `PermissionDenied`.
    func requirePlay() throws { try require(playFile, of: "local Google Play", "start one first with till play") }

    /// - Throws: `PermissionDenied` for the first existing file or folder that may not be written.
    private func requireWriting(_ urls: [URL]) throws(PermissionDenied) {
        for url in urls where try url.exists() { try url.requireWriting() }
    }

    private func make(_ parts: [URL]) throws {
        do {
            let isNew = !folder.isExistingFolder
            for folder in [folder] + parts {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            }
            for folder in (isNew ? [folder] : []) + parts {
                let ignored = folder.file(".gitignore")
                if !FileManager.default.fileExists(atPath: ignored.path) {
                    try Data("*\n".utf8).write(to: ignored, options: .atomic)
                }
            }
        } catch {
            try requireWriting([folder] + parts)
            throw unusable
        }
    }

    private var unusable: CommandError {
        CommandError(
            "dataDirectoryUnusable",
            "The data directory \(folder.path) cannot be made or written: check its disk and rights, or name another with --data."
        )
    }
}

/// The folders that come with an executable: those of the clone that built it, or of the package that installed it.
package struct InstalledFolders {
    /// The path of the executable without symbolic links; nil if unknown.
    package var executable = Bundle.main.executableURL?.resolvingSymlinksInPath()
    /// The folder whose catalog is used if the executable has none.
    package var currentDirectory = URL(
        filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)

    /// The folders that come with the running program.
    package init() {}

    /// The folder of the sample catalog: the clone's, else the package's, else that of the current directory; nil if the program's own
    /// copy is the only one.
    package var products: URL? {
        [project, dataFolder, currentDirectory].compactMap(\.self).map { $0.folder("Products") }
            .first { Self.holds(Catalog.configurationFile, in: $0) }
    }

    /// The folder of certificates that the user trusts; nil if there is none.
    ///
    /// The current directory is not searched: anyone may own it, and a writer of this folder can mint purchases. A writer of the
    /// folders above the executable, or of its prefix, can replace the executable anyway.
    package var keys: URL? { (project ?? dataFolder).map { $0.folder("Keys") } }

    /// The clone above the executable; nil if there is none.
    private var project: URL? {
        guard let executable else { return nil }
        return sequence(first: executable) { $0.path == "/" ? nil : $0.deletingLastPathComponent() }.dropFirst()
            .first { Self.holds("Package.swift", in: $0) }
    }

    /// The folder of the package's files: `/usr/share/till` for `/usr/bin/till`; nil for an executable that lies in no `bin`.
    private var dataFolder: URL? {
        guard let folder = executable?.deletingLastPathComponent(), folder.lastPathComponent == "bin" else {
            return nil
        }
        return folder.deletingLastPathComponent().folder("share/till")
    }

    private static func holds(_ file: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.file(file).path)
    }
}

extension URL {
    func folder(_ name: String) -> URL { appending(path: name, directoryHint: .isDirectory) }

    func file(_ name: String) -> URL { appending(path: name, directoryHint: .notDirectory) }

    var isExistingFolder: Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

/// The access of this process's user to a file or folder. The URL of a folder ends with a slash.
extension URL {
    /// True if there is such a file or folder.
    ///
    /// `FileManager.fileExists` is false for a file in a folder that may not be searched, as if there were none.
    ///
    /// - Throws: `PermissionDenied` if a folder above may not be searched.
    func exists() throws(PermissionDenied) -> Bool {
        if access(path, F_OK) == 0 { return true }
        guard errno == EACCES else { return false }
        // The folder that hides what is in it: the nearest one that can be seen.
        var folder = absoluteURL.deletingLastPathComponent()
        while folder.path != "/", access(folder.path, F_OK) != 0 { folder = folder.deletingLastPathComponent() }
        throw PermissionDenied(path: folder.path)
    }

    /// - Throws: `PermissionDenied` if the file may not be read.
    func requireReading() throws(PermissionDenied) {
        try require(R_OK)
    }

    /// - Throws: `PermissionDenied` if the file may not be read and written.
    func requireWriting() throws(PermissionDenied) {
        try require(R_OK | W_OK)
    }

    private func require(_ mode: Int32) throws(PermissionDenied) {
        let mode = hasDirectoryPath ? mode | X_OK : mode
        guard access(path, mode) != 0, errno == EACCES else { return }
        throw PermissionDenied(path: absoluteURL.path)
    }
}

/// An error for a file or folder that the user of this process may not use.
struct PermissionDenied: CodedError {
    let path: String

    var code: String { "permissionDenied" }

    var message: String {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        let owner = Self.owner(of: path) ?? (geteuid(), nil)
        guard owner.number != geteuid() else {
            return "Permission denied: \"\(path)\" belongs to you, and its mode forbids it. Run chmod u+rwX "
                + "\(CommonOptions.quoted(path)), then try again."
        }
        // If root owns a file in another user's folder, a command has run as root by mistake.
        guard owner.number != 0 || Self.owner(of: folder)?.number ?? 0 == 0 else {
            return "Permission denied: \"\(path)\" belongs to root. Give it to the user of the service: "
                + "chown --reference=\(CommonOptions.quoted(folder)) \(CommonOptions.quoted(path))."
        }
        return
            "Permission denied: \"\(path)\" belongs to \"\(owner.name ?? String(owner.number))\". Run the command as that "
            + "user: sudo -u \(CommonOptions.quoted(owner.name ?? "#\(owner.number)")) \(Self.command)."
    }

    /// The owner of a file. The name is nil if the system knows none.
    private static func owner(of path: String) -> (number: uid_t, name: String?)? {
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.ownerAccountID] as? uid_t).map { ($0, attributes?[.ownerAccountName] as? String) }
    }

    /// The command of this process. It includes the data directory of the environment, because `sudo` drops variables.
    private static var command: String {
        var arguments = Array(CommandLine.arguments.dropFirst())
        // The address of a database may hold a password; a sandbox key is a secret.
        let isSecret = { (argument: String) in
            argument.contains("://") && argument.contains("@") || argument.hasPrefix("--sandbox-key")
        }
        guard !arguments.contains(where: isSecret) else { return "till …" }
        let isNamedByArgument = arguments.contains { $0 == "--data" || $0.hasPrefix("--data=") }
        if let named = ProcessInfo.variable("TILL_DATA"), !isNamedByArgument { arguments += ["--data", named] }
        return (["till"] + arguments).map(CommonOptions.quoted).joined(separator: " ")
    }
}
