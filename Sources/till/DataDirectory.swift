import AppStore
import Foundation
import Proofs

/// The folder of the store's part and the service's part, and the catalog. Neither part reads the other's files.
struct DataDirectory {
    let folder: URL
    /// The folder of the catalog.
    let catalogFolder: URL

    /// - Parameters:
    ///   - path: As given on the command line; nil for `$TILL_DATA`, else `.till`.
    ///   - catalogPath: As given on the command line; nil for `$TILL_CATALOG`, else the catalog that comes with Till.
    init(path: String?, catalogPath: String? = nil) {
        func named(_ argument: String?, _ variable: String) -> URL? {
            // An empty name is not the current directory.
            (argument?.isEmpty == false ? argument : ProcessInfo.variable(variable))
                .map { URL(filePath: $0, directoryHint: .isDirectory) }
        }
        folder = named(path, "TILL_DATA") ?? URL(filePath: ".till", directoryHint: .isDirectory)
        catalogFolder = named(catalogPath, "TILL_CATALOG") ?? InstalledFolders().products
    }

    var storeFolder: URL { folder.appending(path: "store", directoryHint: .isDirectory) }
    /// The folder of the local Google Play.
    var playFolder: URL { folder.appending(path: "play", directoryHint: .isDirectory) }
    var playFile: URL { playFolder.appending(path: "play.sqlite", directoryHint: .notDirectory) }
    /// The key file of the service's account at the local Google Play.
    var playAccountFile: URL { playFolder.appending(path: "service-account.json", directoryHint: .notDirectory) }
    var ledgerFile: URL { serviceFolder.appending(path: "ledger.sqlite", directoryHint: .notDirectory) }
    /// The certificates and the keys of apps that the service trusts besides those in `Keys/`.
    var trustFolder: URL { serviceFolder.appending(path: "trust", directoryHint: .isDirectory) }

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

    private var serviceFolder: URL { folder.appending(path: "service", directoryHint: .isDirectory) }
    var storeFile: URL { storeFolder.appending(path: "store.sqlite", directoryHint: .notDirectory) }

    /// - Throws: `CommandError` if there is no store; `PermissionDenied`.
    func requireStore() throws {
        guard try hasStore() else { throw missing("store") }
        try storeFile.requireWriting()
    }

    /// - Throws: `PermissionDenied`.
    func hasStore() throws(PermissionDenied) -> Bool { try storeFile.exists() }

    /// The clock by which subscriptions end.
    var clock: any WallClock {
        get throws { try clocks.current }
    }

    /// - Throws: `CommandError` if there is no ledger; `PermissionDenied`.
    func requireLedger() throws {
        guard try ledgerFile.exists() else {
            throw missing("ledger")
        }
        // SQLite writes beside the ledger even if it is opened for reading.
        try ledgerFile.requireWriting()
    }

    /// - Throws: `CommandError` if there is no folder of trusted certificates; `PermissionDenied`.
    func requireTrustFolder() throws {
        guard try trustFolder.exists() else {
            throw missing("folder of trusted certificates", "trust a certificate first with till trust add")
        }
    }

    private func missing(_ part: String, _ remedy: String = "buy something first with till buy") -> CommandError {
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
    func requirePlay() throws {
        guard try playFile.exists() else {
            throw missing("local Google Play", "start one first with till play")
        }
        try playFile.requireWriting()
    }

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
                let ignored = folder.appending(path: ".gitignore", directoryHint: .notDirectory)
                if !FileManager.default.fileExists(atPath: ignored.path) {
                    try Data("*\n".utf8).write(to: ignored, options: .atomic)
                }
            }
        } catch {
            try requireWriting([folder] + parts)
            throw CommandError(
                "dataDirectoryUnusable",
                "The data directory \(folder.path) cannot be made or written: check its disk and rights, or name another with "
                    + "--data.")
        }
    }
}
