import CLibFuzzer
import Foundation
import FuzzTargets

// The environment names the target, because libFuzzer starts copies of this program with its own arguments.
//   TILL_FUZZ_TARGET=TARGET till-fuzz seeds FOLDER    writes valid inputs
//   TILL_FUZZ_TARGET=TARGET till-fuzz ARGUMENTS …     passes libFuzzer's arguments

private let target = ProcessInfo.processInfo.environment["TILL_FUZZ_TARGET"].flatMap(FuzzTarget.init(rawValue:))
private let signers = Result { try Signers() }

private func feed(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    if let target, case .success(let signers) = signers {
        target.run(Array(UnsafeBufferPointer(start: start, count: count)), with: signers)
    }
    return 0
}

private func run() throws -> Int32 {
    guard let target else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        FileHandle.standardError.write(Data("till-fuzz: TILL_FUZZ_TARGET must be one of \(names).\n".utf8))
        return 64
    }
    let signers = try signers.get()
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "seeds" {
        let folder = URL(filePath: CommandLine.arguments[2], directoryHint: .isDirectory)
        let products = URL(filePath: "Products", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, seed) in try target.seeds(products: products, with: signers).enumerated() {
            try Data(seed).write(to: folder.appending(path: "seed-\(index)"))
        }
        return 0
    }
    var count = CommandLine.argc
    // Swift's own copy of the arguments lives as long as the process.
    var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    return LLVMFuzzerRunDriver(&count, &values, feed)
}

exit(try run())
