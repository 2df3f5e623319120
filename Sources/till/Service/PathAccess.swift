import Catalog
import Console
import Foundation
import Vocabulary

/// A file or folder that somebody besides root and the service's user could change, replace or read.
///
/// The owner of a folder, and whoever may write into it, replaces what is in it. So each folder above is looked at, too.
struct ExposedPath: Hashable {
    enum Exposure: Hashable {
        /// Every user of the machine may write the file, or replace what is in the folder.
        case everybodyWrites
        /// Another user owns it.
        case stranger(String)
        /// The members of a group may write it.
        case groupWrites(String)
        /// Others may read a secret. `mode` is the one to set, and `group` the one to give it to, so that the service reads it then.
        case othersRead(present: String, mode: String, group: String?)
    }

    /// The mode that takes the others' permission to write.
    private static let closing = "o-w"

    let path: String
    let exposure: Exposure
    /// True if the service does not start: whoever writes there replaces the ledger, or adds a trusted root, and so mints purchases.
    let isRefused: Bool

    var detail: Phrase {
        switch exposure {
        case .everybodyWrites: "\"\(path)\" may be written by every user of this machine"
        case .stranger(let owner): "\"\(path)\" belongs to \(owner), who may replace it and what is in it"
        case .groupWrites(let group): "\"\(path)\" may be written by each member of the group \(group)"
        case .othersRead(let present, _, _): "\"\(path)\" has the mode \(present)"
        }
    }

    var remedy: Phrase {
        let quoted = CommonOptions.quoted(path)
        return switch exposure {
        case .everybodyWrites: "Run: chmod \(Self.closing) \(quoted)"
        case .stranger: "Give it to root, or to the user of the service: chown USER \(quoted)"
        case .groupWrites: "Unless you trust each member, run: chmod g-w \(quoted)"
        case .othersRead(_, let mode, nil): "Run: chmod \(mode) \(quoted)"
        case .othersRead(_, let mode, let group?): "Run: chgrp \(group) \(quoted) && chmod \(mode) \(quoted)"
        }
    }

    var check: HealthCheck {
        if case .groupWrites = exposure { return .note(.permissions, detail, remedy: remedy) }
        return .problem(.permissions, detail, remedy: remedy)
    }

    var sentence: String { "\(detail.english). \(remedy.english)" }
}

/// The files and folders that a service relies on, and what others may do with them.
struct PathAccess {
    /// The permissions that nobody else should have, and the mode to set.
    enum Secrecy {
        case none
        /// The user of the service alone reads it.
        case owner
        /// A group may read it: that of the service, as the Debian package sets it.
        case group

        fileprivate var forbidden: mode_t { self == .owner ? 0o077 : self == .group ? 0o007 : 0 }
        fileprivate var mode: String { self == .owner ? "600" : "640" }
    }

    private(set) var exposed: [ExposedPath] = []
    /// The number of files and folders that were named and are there.
    private(set) var count = 0
    private var visited: Set<String> = []
    /// Root, the user of this process, the owner of the data directory, whom root may examine, and that of the program.
    private let trusted: Set<uid_t>
    private let data: Status?

    init(data: URL) {
        self.data = Status(data.path)
        let places = [data, Bundle.main.executableURL].compactMap(\.self)
        trusted = Set([0, geteuid()] + places.compactMap { Status($0.path)?.owner })
    }

    private struct Status {
        let owner: uid_t
        let group: gid_t
        let mode: mode_t

        var isFolder: Bool { mode & S_IFMT == S_IFDIR }
        /// True if users of a shared folder replace their own files alone, as in `/tmp`.
        var isSticky: Bool { mode & S_ISVTX != 0 }
        var permissions: mode_t { mode & 0o777 }

        /// Nil if there is nothing, or nothing that this user may see.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode)
        }
    }

    /// Examines a file or folder, and all folders above it, also those of the target of a symbolic link.
    ///
    /// - Parameter isRefused: True if the service does not start if everybody may write it.
    mutating func examine(_ path: String, secrecy: Secrecy = .none, isRefused: Bool) {
        guard let status = Status(path) else { return }
        count += 1
        let url = URL(filePath: path).absoluteURL.standardizedFileURL
        for place in [url, url.resolvingSymlinksInPath()] {
            examine(place.path, isItself: true, isRefused)
            var folder = place
            while folder.path != "/" {
                folder = folder.deletingLastPathComponent()
                examine(folder.path, isItself: false, isRefused)
            }
        }
        guard !status.isFolder, status.permissions & secrecy.forbidden & ~0o022 != 0 else { return }
        add(
            ExposedPath(
                path: path,
                exposure: .othersRead(
                    present: String(status.permissions, radix: 8), mode: secrecy.mode,
                    group: secrecy == .group ? groupOfService(besides: status) : nil), isRefused: false))
    }

    /// The group of the service, if it is neither the owner of a secret nor in its group, such as for a key that root has copied there.
    private func groupOfService(besides secret: Status) -> String? {
        guard let data, data.owner != 0, data.owner != secret.owner, data.group != secret.group else { return nil }
        return Self.name(ofGroup: data.group, sharedBy: nil)
    }

    private mutating func examine(_ path: String, isItself: Bool, _ isRefused: Bool) {
        guard visited.insert("\(isItself) \(isRefused) \(path)").inserted, let status = Status(path) else { return }
        func expose(_ exposure: ExposedPath.Exposure, isRefused: Bool = false) {
            add(ExposedPath(path: path, exposure: exposure, isRefused: isRefused))
        }
        if !trusted.contains(status.owner) { expose(.stranger(Self.name(ofUser: status.owner))) }
        // In a sticky folder, nobody else replaces what is there already.
        guard isItself || !status.isSticky else { return }
        if status.permissions & 0o002 != 0 {
            expose(.everybodyWrites, isRefused: isRefused)
        } else if status.permissions & 0o020 != 0, let group = Self.name(ofGroup: status.group, sharedBy: status.owner)
        {
            expose(.groupWrites(group))
        }
    }

    private mutating func add(_ path: ExposedPath) {
        if !exposed.contains(where: { $0.path == path.path && $0.exposure == path.exposure }) { exposed.append(path) }
    }
}

/// The names of users and groups.
extension PathAccess {
    private static func name(ofUser number: uid_t) -> String {
        var (entry, found, buffer) = (
            passwd(), UnsafeMutablePointer<passwd>?.none, [CChar](repeating: 0, count: 1 << 14)
        )
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return "\(number)" }
        return String(cString: entry.pw_name)
    }

    /// The name of a group; nil for root's, and for a group of the owner alone, as many systems make one for each user.
    ///
    /// - Parameter owner: Nil if the owner may be alone in the group.
    private static func name(ofGroup number: gid_t, sharedBy owner: uid_t?) -> String? {
        guard number != 0 else { return nil }
        var (entry, found, buffer) = (group(), UnsafeMutablePointer<group>?.none, [CChar](repeating: 0, count: 1 << 16))
        guard getgrgid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return "\(number)" }
        let (name, user) = (String(cString: entry.gr_name), owner.map(Self.name(ofUser:)))
        var members: [String] = []
        var next = entry.gr_mem
        while let member = next?.pointee {
            members.append(String(cString: member))
            next = next?.successor()
        }
        return name == user && members.allSatisfy { $0 == user } ? nil : name
    }
}

extension ServeConfiguration {
    /// The access of others to the files and folders that the service relies on.
    var access: PathAccess {
        var access = PathAccess(data: data.folder)
        for suffix in ["", "-wal", "-shm"] {
            access.examine(data.ledgerFile.path + suffix, secrecy: .owner, isRefused: true)
        }
        let trusted = (try? data.trustedFolders) ?? []
        let roots = trusted.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).map { folder.file($0) }
        }
        for url in [data.folder, data.ledgerFile.deletingLastPathComponent()] + trusted + roots {
            access.examine(url.path, isRefused: true)
        }
        if let file = settings.configurationFile {
            access.examine(file, secrecy: settings.hasSecretInFile ? .group : .none, isRefused: true)
        }
        let secrets = [
            "tls-key", "app-store-key", "google-service-account", "mail-password-file", "mail-webhook-file",
            "mail-webhook-secret-file", "forward-notifications-file",
        ].compactMap(settings.text)
        let ofApps = appSettings.flatMap { [$0.appStoreKey?.file, $0.googleServiceAccount].compactMap(\.self) }
        for path in secrets + ofApps { access.examine(path, secrecy: .group, isRefused: false) }
        if case .file(let file)? = tokens?.keys { access.examine(file.path, isRefused: false) }
        let files = [
            Catalog.configurationFile, Catalog.itemsFile, Catalog.refundRulesFile, Catalog.retentionRulesFile,
        ]
        let catalogs = catalogFolders.flatMap { folder in [folder] + files.map { folder.file($0) } }
        for path in catalogs.map(\.path) + ["tls-certificate"].compactMap(settings.text) {
            access.examine(path, isRefused: false)
        }
        return access
    }

    /// The notes about files and folders that others may change or read.
    ///
    /// - Throws: `CommandError` if everybody may replace the ledger or add a trusted root.
    func checkAccess() throws(CommandError) -> [String] {
        let exposed = access.exposed
        if let path = exposed.first(where: { $0.isRefused && $0.exposure == .everybodyWrites }) {
            throw CommandError(
                "permissionsUnsafe",
                "\(path.detail.english), who could replace the ledger or add a trusted root. \(path.remedy.english)")
        }
        return exposed.map(\.sentence)
    }
}
