import Foundation

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
