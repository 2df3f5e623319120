import Foundation

/// The owner of a file that root created.
enum FileOwner {
    /// Gives a file that root created to the owner of its folder, so that the service can use it. It does nothing for other
    /// users.
    static func matchFolder(of url: URL) {
        var status = stat()
        guard geteuid() == 0, stat(url.deletingLastPathComponent().path, &status) == 0, status.st_uid != 0 else {
            return
        }
        _ = chown(url.path, status.st_uid, status.st_gid)
    }
}
