import Foundation

/// The process that listens on a TCP port of this machine, from Linux's `/proc`.
struct ListeningProcess {
    let identifier: Int
    /// The name of the program, of up to 15 bytes.
    let name: String

    /// - Returns: nil if no process listens, if it belongs to another user, or without `/proc`.
    init?(port: Int) {
        let inodes = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { Self.inodes(listeningOn: port, in: $0) }
        let links = Set(inodes.map { "socket:[\($0)]" })
        let files = FileManager.default
        guard !links.isEmpty, let processes = try? files.contentsOfDirectory(atPath: "/proc") else { return nil }
        for identifier in processes.compactMap(Int.init) {
            let folder = "/proc/\(identifier)/fd"
            let descriptors = (try? files.contentsOfDirectory(atPath: folder)) ?? []
            guard
                descriptors.contains(where: { name in
                    (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")).map(links.contains) ?? false
                }), let name = try? String(contentsOfFile: "/proc/\(identifier)/comm", encoding: .utf8)
            else { continue }
            self.identifier = identifier
            self.name = name.trimmingCharacters(in: .newlines)
            return
        }
        return nil
    }

    /// The inodes of the sockets in the state LISTEN (0A).
    private static func inodes(listeningOn port: Int, in file: String) -> [Substring] {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let hexadecimal = fields[1].split(separator: ":").last,
                Int(hexadecimal, radix: 16) == port
            else { return nil }
            return fields[9]
        }
    }
}
