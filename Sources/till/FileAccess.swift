import Foundation
import Proofs

/// The access of this process's user to a file or folder.
///
/// `FileManager.fileExists` is false for a file in a folder that may not be searched, as if there were none.
struct FileAccess {
    private let url: URL

    /// - Parameter url: The URL of a folder ends with a slash.
    init(_ url: URL) {
        self.url = url.absoluteURL
    }

    /// - Throws: `PermissionDenied` if a folder above may not be searched.
    func exists() throws(PermissionDenied) -> Bool {
        if access(url.path, F_OK) == 0 { return true }
        guard errno == EACCES else { return false }
        throw PermissionDenied(url: closedFolder)
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
        let mode = url.hasDirectoryPath ? mode | X_OK : mode
        guard access(url.path, mode) != 0, errno == EACCES else { return }
        throw PermissionDenied(url: url)
    }

    /// The folder that hides what is in it: the nearest one that can be seen.
    private var closedFolder: URL {
        var folder = url.deletingLastPathComponent()
        while folder.path != "/", access(folder.path, F_OK) != 0 { folder = folder.deletingLastPathComponent() }
        return folder
    }
}

/// An error for a file or folder that the user of this process may not use.
struct PermissionDenied: CodedError {
    private let path: String
    private let owner: uid_t
    private let folderOwner: uid_t

    init(url: URL) {
        path = url.path
        var status = stat()
        owner = stat(path, &status) == 0 ? status.st_uid : geteuid()
        folderOwner = stat(url.deletingLastPathComponent().path, &status) == 0 ? status.st_uid : 0
    }

    var code: String { "permissionDenied" }

    var message: String {
        guard owner != geteuid() else {
            return "Permission denied: \"\(path)\" belongs to you, and its mode forbids it. Run chmod u+rwX "
                + "\(CommonOptions.quoted(path)), then try again."
        }
        // If root owns a file in another user's folder, a command has run as root by mistake.
        guard owner != 0 || folderOwner == 0 else {
            return "Permission denied: \"\(path)\" belongs to root. Give it to the user of the service: "
                + "chown --reference=\(CommonOptions.quoted(URL(filePath: path).deletingLastPathComponent().path)) "
                + "\(CommonOptions.quoted(path))."
        }
        let name = Self.name(of: owner)
        return "Permission denied: \"\(path)\" belongs to \"\(name ?? String(owner))\". Run the command as that user: "
            + "sudo -u \(CommonOptions.quoted(name ?? "#\(owner)")) \(Self.command)."
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

    /// - Returns: Nil if the system knows no name of the user.
    private static func name(of user: uid_t) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let start = buffer.baseAddress,
                getpwuid_r(user, &entry, start, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
