import Foundation
import Proofs

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
