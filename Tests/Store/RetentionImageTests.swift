import Foundation
import Store
import TestSupport
import Testing

/// The images of retention messages, whose sizes in pixels Apple documents.
@Suite struct RetentionImageTests {
    @Test(
        arguments: [
            (nil, TestPicture.png(3840, 160), nil), ("FULL_SIZE", TestPicture.png(3840, 2160), nil),
            ("BULLET_POINT", TestPicture.png(1024, 1024), nil),
            ("FULL_SIZE", TestPicture.png(3840, 159), .invalidImage),
            ("FULL_SIZE", TestPicture.png(3840, 2161), .invalidImage),
            ("FULL_SIZE", TestPicture.png(3839, 160), .invalidImage),
            ("FULL_SIZE", TestPicture.png(1024, 1024), .invalidImage),
            (nil, TestPicture.png(60_000, 60_000), .invalidImage), (nil, TestPicture.jpeg(3840, 160), .invalidImage),
            (nil, Array(TestPicture.png(3840, 160).prefix(32)), .invalidImage),
            ("BULLET_POINT", TestPicture.png(3840, 160), .invalidImage),
            ("ICON", TestPicture.png(1024, 1024), .badRequestImageSize),
        ] as [(String?, [UInt8], ServerAPIError?)])
    func `an image has the pixels of its size`(size: String?, png: [UInt8], error: ServerAPIError?) throws {
        let api = AppStoreServerAPI(store: try TestGarden().store)
        func upload() throws { try api.uploadImage(UUID().uuidString, png, size: size) }
        if let error {
            #expect(throws: error, performing: upload)
        } else {
            try upload()
        }
        #expect(try api.imageList().imageIdentifiers.count == (error == nil ? 1 : 0))
    }
}
