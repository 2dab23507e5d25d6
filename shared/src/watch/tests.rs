use super::*;
use crate::{
    clock,
    wait::{Waiter, Wake},
};

struct Scene {
    dir: tempfile::TempDir,
    waiter: Waiter,
    watch: Watch,
    folder: PathBuf,
}

impl Scene {
    /// Watches `name` below a fresh folder.
    fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let waiter = Waiter::new(None).unwrap();
        let watch = Watch::new(waiter.bell().unwrap(), false);
        let folder = dir.path().join(name);
        Self { dir, waiter, watch, folder }
    }

    fn arm(&mut self) {
        self.watch.arm(std::slice::from_ref(&self.folder), clock::monotonic());
    }

    /// Arms and waits until `path` exists, by changes alone: a missed one is a hang.
    fn seen(&mut self, path: &Path) {
        let due = clock::monotonic() + Duration::from_secs(30);
        loop {
            self.arm();
            if path.exists() {
                return;
            }
            assert_eq!(self.waiter.wait(Some(due), []).unwrap(), Wake::Rung, "missed");
        }
    }
}

fn touch(path: &Path) {
    fs::File::create(path).unwrap();
}

#[test]
fn a_folder_that_is_made_later_is_watched_from_its_first_file() {
    for _ in 0..50 {
        let mut scene = Scene::new("a/b/c");
        scene.arm();
        let (folder, file) = (scene.folder.clone(), scene.folder.join("x"));
        let maker = std::thread::spawn(move || {
            fs::create_dir_all(&folder).unwrap();
            touch(&folder.join("x"));
        });
        scene.seen(&file);
        maker.join().unwrap();
    }
}

#[test]
fn a_folder_that_is_made_anew_is_watched_again() {
    let mut scene = Scene::new("a");
    for round in 0..50 {
        let (folder, file) = (scene.folder.clone(), scene.folder.join(format!("x{round}")));
        let maker = std::thread::spawn({
            let file = file.clone();
            move || {
                let _ = fs::remove_dir_all(&folder);
                fs::create_dir(&folder).unwrap();
                touch(&file);
            }
        });
        scene.seen(&file);
        maker.join().unwrap();
        assert!(scene.watch.roots.len() <= 2, "{:?}", scene.watch.roots);
    }
}

#[test]
fn removal_and_renaming_are_told_by_name_and_strangers_are_not() {
    let mut scene = Scene::new("a");
    fs::create_dir(&scene.folder).unwrap();
    touch(&scene.folder.join("x"));
    touch(&scene.folder.join("y"));
    scene.arm();
    touch(&scene.dir.path().join("stranger"));
    let (x, y, z) = (scene.folder.join("x"), scene.folder.join("y"), scene.folder.join("z"));
    fs::remove_file(&x).unwrap();
    fs::rename(&y, &z).unwrap();
    let mut list = Vec::new();
    while list.len() < 4 {
        let due = clock::monotonic() + Duration::from_secs(30);
        assert_eq!(scene.waiter.wait(Some(due), []).unwrap(), Wake::Rung);
        list.extend(scene.watch.take().list);
    }
    let renamed = Change::Renamed { from: y.clone(), to: z.clone() };
    assert_eq!(list, [Change::Removed(x), Change::Removed(y), Change::Touched(z), renamed]);
}

#[test]
fn what_nobody_reads_is_passed_over() {
    let wanted = vec!["/a/b".into()];
    let reads = Some((|path: &Path| path.ends_with("x")) as fn(&Path) -> bool);
    let queue = Queue { wanted, reads, ..Queue::default() };
    let concerned = ["/", "/a", "/a/b", "/a/b/x", "/a/b/y", "/a/c"];
    let concerned = concerned.map(|path| queue.concerns(Path::new(path)));
    assert_eq!(concerned, [true, true, true, true, false, false]);
}

#[test]
fn what_happened_before_the_call_is_known_after_it() {
    let mut scene = Scene::new("a");
    fs::create_dir(&scene.folder).unwrap();
    scene.arm();
    for round in 0..200 {
        let path = scene.folder.join(format!("x{round}"));
        touch(&path);
        assert!(scene.watch.catch_up().contains(&Change::Touched(path)), "{round}");
    }
}

#[test]
fn reading_is_no_change() {
    let mut scene = Scene::new("a");
    fs::create_dir(&scene.folder).unwrap();
    touch(&scene.folder.join("x"));
    scene.arm();
    for _ in 0..10 {
        fs::read(scene.folder.join("x")).unwrap();
        fs::read_dir(&scene.folder).unwrap().for_each(drop);
    }
    // The marker proves that the reads before it were passed over.
    touch(&scene.folder.join("marker"));
    let due = clock::monotonic() + Duration::from_secs(30);
    assert_eq!(scene.waiter.wait(Some(due), []).unwrap(), Wake::Rung);
    let marker = Change::Touched(scene.folder.join("marker"));
    assert!(scene.watch.take().list.iter().all(|change| *change == marker));
}

#[test]
fn a_flood_is_an_overflow_and_takes_no_memory() {
    let mut queue = Queue { wanted: vec!["/a".into()], ..Queue::default() };
    for n in 0..200_000 {
        queue.push(Change::Touched(format!("/a/{n}").into()));
    }
    assert!(queue.changes.overflowed && queue.changes.list.len() <= KEPT);
}
