import Foundation

/// A file that a person or a setting names.
///
/// A pipe that nobody writes to is empty, instead of being waited for. A folder and a socket are no files.
package enum NamedFile {
    /// The largest file that is read as a whole, in bytes, unless a caller states another size.
    private static let maximumSize = 64 << 20

    /// Opens a file, or a pipe, for reading.
    ///
    /// - Parameter isRegular: True if the file must have its size before it is read, as a database.
    /// - Returns: Nil if it is missing, is no file, or may not be read.
    package static func handle(of file: URL, isRegular: Bool = false) -> FileHandle? {
        // Without O_NONBLOCK, a pipe is opened when somebody opens it for writing.
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG || (!isRegular && kind != S_IFDIR) else { return nil }
        // A read waits for the writer.
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) == 0 else { return nil }
        return handle
    }

    /// The bytes of a file.
    ///
    /// - Returns: Nil if the file cannot be read, or has more bytes than the limit.
    package static func bytes(of file: URL, upTo limit: Int = maximumSize) -> [UInt8]? {
        guard let handle = handle(of: file), let data = try? handle.read(upToCount: limit + 1) ?? Data() else {
            return nil
        }
        return data.count <= limit ? [UInt8](data) : nil
    }

    /// The sentences about a file that cannot be read: it does not exist, or something else is in the way.
    ///
    /// - Parameter option: The option that names the file; nil for an argument.
    package static func fault(of path: String, namedBy option: String? = nil) -> String {
        let name = "\"\(path)\"" + (option.map { " of \($0)" } ?? "")
        return isMissing(path)
            ? "\(name) does not exist. Check the path."
            : "\(name) cannot be read. Check that it is a file and that you may read it."
    }

    /// True if a path leads to nothing. False if that cannot be known, because a folder may not be searched.
    package static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }
}
