import Foundation
import Proofs
import Service

/// A file of a scheduled data export.
struct ExportFile {
    private static let chunkSize = 1 << 18

    private let path: String
    private let handle: FileHandle

    /// - Throws: `ExportFileError.unreadable`.
    init(path: String) throws(ExportFileError) {
        self.path = path
        do {
            handle = try FileHandle(forReadingFrom: URL(filePath: path, directoryHint: .notDirectory))
        } catch {
            throw .unreadable(path: path)
        }
    }

    /// Reads all rows.
    ///
    /// - Throws: `ExportFileError`.
    func read(by rules: ExportRules) throws -> ExportImport {
        var isFirst = true
        var reader = CSVReader { () throws -> Data in
            let data: Data
            do { data = try handle.read(upToCount: Self.chunkSize) ?? Data() } catch {
                throw ExportFileError.unreadable(path: path)
            }
            defer { isFirst = false }
            // The first bytes of gzip (RFC 1952).
            if isFirst, data.starts(with: [0x1F, 0x8B]) { throw ExportFileError.compressed(path: path) }
            return data
        }
        var export = ExportImport(try ExportColumns(try reader.next()), by: rules)
        while let record = try reader.next() { export.add(record) }
        return export
    }
}
