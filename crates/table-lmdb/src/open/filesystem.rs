//! File systems that can't hold a store.
//!
//! LMDB's processes meet in two mapped files and in locks inside one of them. A network file system keeps neither
//! in step between machines, and many not even between processes of one.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has the mount table"))]

use std::path::Path;

use table_engine::error::{Error, ErrorKind, Result};

/// Kinds, as the kernel names them, whose files live on another machine or behind an emulation without real locks.
const REFUSED: &[&str] = &[
    // Across the network.
    "9p acfs afs beegfs ceph cifs coda davfs gfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 orangefs panfs",
    "pvfs2 smb3 smbfs wekafs",
    // Across the network, in user space.
    "fuse.blobfuse fuse.blobfuse2 fuse.ceph fuse.ceph-fuse fuse.gcsfuse fuse.glusterfs fuse.goofys fuse.juicefs",
    "fuse.lizardfs fuse.mfs fuse.moosefs fuse.mount-s3 fuse.rclone fuse.s3fs fuse.seaweedfs fuse.smbnetfs",
    "fuse.sshfs",
    // Folders that a desktop shares with its virtual machines and containers.
    "prl_fs vboxsf vmhgfs fuse.grpcfuse fuse.osxfs fuse.vmhgfs-fuse",
    // WSL 1, which emulates the locks.
    "drvfs lxfs wslfs",
];

fn is_refused(kind: &str) -> bool {
    REFUSED.iter().flat_map(|kinds| kinds.split(' ')).any(|refused| refused == kind)
}

/// Refuses a path on a file system that can't hold a store. Its last parts need not exist yet.
#[cfg(target_os = "linux")]
pub(super) fn check(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    let existing = path.ancestors().find_map(|path| path.canonicalize().ok());
    let Some((path, metadata)) =
        existing.and_then(|path| path.metadata().ok().map(|metadata| (path, metadata)))
    else {
        return Ok(());
    };
    // Without `/proc` the file system is not known, and most are fine.
    let Ok(table) = std::fs::read("/proc/self/mountinfo") else { return Ok(()) };
    refuse(&path, mount_of(&String::from_utf8_lossy(&table), metadata.dev(), &path))
}

/// Refuses a path unless its file system is known to be read-only. A mount may be read-only, and the file system
/// writable by another way.
#[cfg(target_os = "linux")]
pub(super) fn check_unchanging(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    let device = path.metadata().map(|metadata| metadata.dev());
    let table = std::fs::read("/proc/self/mountinfo");
    let mount = match (device, table) {
        (Ok(device), Ok(table)) => mount_of(&String::from_utf8_lossy(&table), device, path),
        _ => None,
    };
    if mount.is_some_and(|mount| mount.read_only) { Ok(()) } else { Err(may_change(path)) }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn check_unchanging(path: &Path) -> Result<()> {
    Err(may_change(path))
}

#[cold]
fn may_change(path: &Path) -> Error {
    Error::new(ErrorKind::UnsupportedFileSystem).because(format!(
        "`{}` can't be written here, so there is no lock file, and its file system may be written elsewhere; mount it \
         so that the lock file can be written, or copy the store",
        path.display()
    ))
}

/// Checks nothing: other systems have no table of mounts that can be read without `unsafe`.
#[cfg(not(target_os = "linux"))]
pub(super) fn check(_: &Path) -> Result<()> {
    Ok(())
}

/// A line of the mount table.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// What kind of file system.
    kind: String,
    /// Where it is mounted.
    point: String,
    /// The device's number as `major:minor`.
    device: String,
    /// Whether the file system is, not just this mount of it.
    read_only: bool,
}

impl Mount {
    /// Parses a line: `id parent major:minor root point options [optional ..] - kind source options`.
    fn parse(line: &str) -> Option<Self> {
        let (place, filesystem) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(2);
        let device = place.next()?.to_owned();
        let point = unescape(place.nth(1)?);
        let mut filesystem = filesystem.split(' ');
        let kind = unescape(filesystem.next()?);
        let read_only =
            filesystem.nth(1).is_some_and(|options| options.split(',').any(|option| option == "ro"));
        Some(Self { kind, point, device, read_only })
    }
}

/// Undoes the table's octal escapes: space, tab, newline and backslash are `\040` and so on.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let escaped = part.split_at_checked(3).and_then(|(digits, rest)| {
            let byte = u8::from_str_radix(digits, 8).ok().filter(u8::is_ascii)?;
            Some((char::from(byte), rest))
        });
        if let Some((c, rest)) = escaped {
            out.push(c);
            out.push_str(rest);
        } else {
            out.push('\\');
            out.push_str(part);
        }
    }
    out
}

/// Returns the mount that holds a file of this device and canonical path.
///
/// The device decides: it sees through bind mounts. Where none matches (the files of a btrfs subvolume have a
/// device of their own), the mount with the longest path does; of two at one point the later hides the earlier.
fn mount_of(table: &str, device: u64, path: &Path) -> Option<Mount> {
    // As the C library packs it.
    let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
    let minor = device & 0xff | (device >> 12) & 0xffff_ff00;
    let device = format!("{major}:{minor}");
    let mounts = table.lines().filter_map(Mount::parse);
    mounts
        .filter_map(|mount| {
            let (same, above) = (mount.device == device, path.starts_with(&mount.point));
            let length = if above { mount.point.len() } else { 0 };
            (same || above).then_some(((same, length), mount))
        })
        .max_by_key(|(rank, _)| *rank)
        .map(|(_, mount)| mount)
}

fn refuse(path: &Path, mount: Option<Mount>) -> Result<()> {
    match mount {
        Some(mount) if is_refused(&mount.kind) => {
            Err(Error::new(ErrorKind::UnsupportedFileSystem).because(format!(
                "`{}` lies on a file system of type {}, mounted at `{}`, which can't keep a memory-mapped, locked \
                 file; put the store on a local disk",
                path.display(),
                mount.kind,
                mount.point
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 27 0:25 / /dev/shm rw,nosuid shared:4 master:2 - tmpfs tmpfs rw
41 27 0:50 / /mnt/my\\040files rw,relatime - nfs4 server:/export rw,vers=4.2
42 27 0:51 /sub /srv/share rw - cifs //server/share rw
43 27 0:33 /@home /home rw shared:9 - btrfs /dev/vdb rw,subvol=/@home
44 43 0:52 / /home/ann/far rw - fuse.sshfs ann@far: rw
45 27 259:300 / /data rw - xfs /dev/nvme0n1p300 rw
46 27 254:0 /srv/real /bound rw - ext4 /dev/vda rw
47 27 0:60 / /over rw - ext4 /dev/vdc rw
48 27 0:61 / /over rw - 9p host rw
not a mount line
49 27 0:62
";

    /// As the C library packs a device's number.
    fn device(major: u64, minor: u64) -> u64 {
        (major & 0xfff) << 8 | (major & !0xfff) << 32 | minor & 0xff | (minor & !0xff) << 12
    }

    fn found(device: u64, path: &str) -> Option<(String, String)> {
        mount_of(TABLE, device, Path::new(path)).map(|mount| (mount.kind, mount.point))
    }

    #[test]
    fn the_device_decides_and_the_nearest_of_its_points_is_named() {
        let is = |kind: &str, point: &str| Some((kind.to_owned(), point.to_owned()));
        assert_eq!(found(device(254, 0), "/var/store"), is("ext4", "/"));
        assert_eq!(found(device(254, 0), "/bound/store"), is("ext4", "/bound"));
        assert_eq!(found(device(0, 50), "/mnt/my files/store"), is("nfs4", "/mnt/my files"));
        assert_eq!(found(device(259, 300), "/data/store"), is("xfs", "/data"));
        assert_eq!(found(device(0, 51), "/elsewhere"), is("cifs", "/srv/share"));
    }

    #[test]
    fn an_unknown_device_goes_by_the_longest_path_of_whole_names() {
        let is = |kind: &str, point: &str| Some((kind.to_owned(), point.to_owned()));
        assert_eq!(found(device(0, 99), "/home/ann/store"), is("btrfs", "/home"));
        assert_eq!(found(device(0, 99), "/home/ann/far/store"), is("fuse.sshfs", "/home/ann/far"));
        assert_eq!(found(device(0, 99), "/home/ann/farther"), is("btrfs", "/home"));
        assert_eq!(found(device(0, 99), "/over/store"), is("9p", "/over"));
        assert_eq!(mount_of("", device(0, 99), Path::new("/")), None);
    }

    #[test]
    fn network_file_systems_are_refused_by_name() {
        for (path, kind, refused) in [
            ("/mnt/my files/store", "nfs4", true),
            ("/srv/share/store", "cifs", true),
            ("/home/ann/far/store", "fuse.sshfs", true),
            ("/over/store", "9p", true),
            ("/home/ann", "btrfs", false),
            ("/data", "xfs", false),
            ("/dev/shm/x", "tmpfs", false),
        ] {
            let path = Path::new(path);
            let mount = mount_of(TABLE, device(0, 99), path).unwrap();
            assert_eq!(mount.kind, kind);
            let point = mount.point.clone();
            match refuse(path, Some(mount)) {
                Ok(()) => assert!(!refused, "{kind}"),
                Err(error) => {
                    assert!(refused, "{kind}");
                    assert_eq!(error.kind(), ErrorKind::UnsupportedFileSystem);
                    let text = error.to_string();
                    assert!(text.contains(kind) && text.contains(&point), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_file_system_is_read_only_by_its_own_options() {
        let mount = |line| Mount::parse(line).unwrap().read_only;
        assert!(mount("50 27 7:0 / /mnt/disc ro,relatime - iso9660 /dev/loop0 ro,nojoliet"));
        assert!(mount("50 27 7:0 / /mnt/disc rw,relatime - squashfs /dev/loop0 ro"));
        // Mounted so here, and written by another way.
        assert!(!mount("51 27 254:0 /srv /store ro,relatime shared:1 - ext4 /dev/vda rw,discard"));
        assert!(!mount("52 27 254:0 /srv /store ro,relatime - ext4 /dev/vda"));
        let dir = super::super::tests::scratch();
        let error = check_unchanging(dir.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedFileSystem);
    }

    #[test]
    fn escapes_are_undone_and_odd_ones_kept() {
        for (escaped, text) in [
            ("/a\\040b\\011c\\012d\\134e", "/a b\tc\nd\\e"),
            ("\\040", " "),
            ("/tail\\04", "/tail\\04"),
            ("/odd\\999", "/odd\\999"),
            ("/odd\\é", "/odd\\é"),
            ("/high\\377", "/high\\377"),
        ] {
            assert_eq!(unescape(escaped), text);
        }
    }

    #[test]
    fn this_machine_can_hold_a_store() {
        let dir = super::super::tests::scratch();
        check(&dir.path().join("not/made/yet")).unwrap();
    }
}
